//! Files of sources: what is read, and what is refused with its place.

use super::*;

const WHOLE: &str = r#"
every: 2s
sources:
  array1:
    http: {url: "https://array1/api/cluster?fields=metric", config: /etc/stend/array1.curl}
    limit: 1500ms
    values:
      cpu: {json: /records/0/cpu, unit: "%", meaning: CPU of controller A, divide: 100}
      reads: {prometheus: 'reads_total{pool="p1"}', several: sum, unit: IOPS, meaning: reads, counter: true}
  svc:
    ssh: {host: admin@svc1, command: lsnodestats -nodetail}
    values: {cpu: {pattern: 'cpu_pc +(\d+)', unit: "%", meaning: node CPU}}
  switch:
    snmp: {host: switch1, config: /etc/stend/switch1}
    every: 30s
    values: {in: {oid: .1.3.6.1.2.1.31.1.1.1.6.1, unit: MB/s, meaning: port 1, counter: true, divide: 1000000}}
  ups:
    command: [apcaccess, -u]
    values: {load: {pattern: 'LOADPCT *: ([0-9.]+)', unit: "%", meaning: load of the UPS}}
"#;

#[test]
fn a_file_has_sources_by_name_with_what_each_is_asked_and_what_is_taken() {
    let found = sources(WHOLE, "s.yaml").unwrap().sources;
    let names: Vec<&str> = found.iter().map(|source| source.name.as_str()).collect();
    assert_eq!(names, ["array1", "svc", "switch", "ups"]);
    let times: Vec<(Nanos, Nanos)> = found.iter().map(|source| (source.every, source.limit)).collect();
    let s = Nanos::secs;
    assert_eq!(times, [(s(2), Nanos::millis(1500)), (s(2), s(2)), (s(30), s(10)), (s(2), s(2))]);
    let [cpu, reads] = &found[0].values[..] else { panic!("{found:?}") };
    assert_eq!((cpu.divide, cpu.counter, cpu.unit.as_str()), (100, false, "%"));
    let Series { name, labels } = Series::read(r#"reads_total{pool="p1"}"#).unwrap().0;
    let place = ValuePlace::Prometheus { series: Series { name, labels }, several: Some(Several::Sum) };
    assert!(reads.place == place && reads.counter);
    assert_eq!(found[2].values[0].place, ValuePlace::Oid("1.3.6.1.2.1.31.1.1.1.6.1".into()));
    assert_eq!(found[3].way, Way::Command { program: "apcaccess".into(), arguments: vec!["-u".into()] });
}

/// A file of one source with this in it.
fn one(inside: &str) -> String {
    format!("sources: {{a: {{{inside}}}}}")
}

#[test]
fn what_is_wrong_is_refused_with_its_place() {
    let value = |inside: &str| one(&format!("command: [x], values: {{v: {{{inside}}}}}"));
    let fine = "unit: x, meaning: y";
    let values = format!("values: {{v: {{pattern: '(.)', {fine}}}}}");
    for (text, told) in [
        ("{}".to_string(), "the key `sources` is missing"),
        ("sources: {}".into(), "0 entries in `sources`; 1 to 32"),
        ("sources: [a]".into(), "a mapping from names"),
        (one(&values), "exactly one of `command`"),
        (one(&format!("command: [x], snmp: {{host: y}}, {values}")), "exactly one of `command`"),
        (one("command: [x]"), "the key `values` is missing"),
        (one(&format!("command: [bin/x], {values}")), "neither a name of `PATH`"),
        (one(&format!("command: [], {values}")), "0 of them"),
        (one(&format!("snmp: {{host: -x}}, {values}")), "does not name a host"),
        (one(&format!("snmp: {{host: x}}, {values}")), "has only `oid`"),
        (one(&format!("http: {{url: 'ftp://x'}}, {values}")), "begins with http://"),
        (one(&format!("http: {{url: 'http://bob:geheim@x/'}}, {values}")), "no user and password"),
        (one(&format!("http: {{url: 'http://x/', config: y}}, {values}")), "an absolute path"),
        (one(&format!("command: [x], every: 100ms, {values}")), "not 200"),
        (one(&format!("command: [x], every: 2s, limit: 3s, {values}")), "not 100"),
        (value(fine), "exactly one of `pattern`"),
        (value(&format!("json: /a, pattern: '(.)', {fine}")), "exactly one of `pattern`"),
        (value(&format!("pattern: '.', {fine}")), "one group"),
        (value(&format!("pattern: '(.', {fine}")), "not a regular expression"),
        (value(&format!("json: a, {fine}")), "not a JSON pointer"),
        (value(&format!("prometheus: 'a b', {fine}")), "not a series"),
        (value(&format!("oid: 1.3.6, {fine}")), "for `snmp` alone"),
        (value(&format!("oid: sysUpTime.0, {fine}")), "in numbers"),
        (value(&format!("json: /a, several: sum, {fine}")), "goes with `pattern`"),
        (value(&format!("json: /a, divide: 0, {fine}")), "outside 1"),
        (value("json: /a, meaning: y"), "the key `unit` is missing"),
        (value(&format!("json: /a, colour: red, {fine}")), "unknown key `colour`"),
    ] {
        let error = sources(&text, "s.yaml").unwrap_err();
        assert!(error.message.en.starts_with("s.yaml:") && error.message.en.contains(told), "{text}: {error}");
    }
}
