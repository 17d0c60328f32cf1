//! `--sources`: values of closed arrays beside the load, from programs, over HTTP and from a real agent of SNMP.

use crate::support::far::{Far, script};
use crate::support::*;
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::Command;
use stend_record::{SourceAnswer, SourceRecord, SourceWay, store};

/// Answers every request with a number that grows.
fn array() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for (at, stream) in listener.incoming().enumerate() {
            let Ok(mut stream) = stream else { return };
            let lines = BufReader::new(stream.try_clone().expect("a stream")).lines();
            lines.map_while(Result::ok).find(String::is_empty);
            let body = format!("{{\"cpu\": {}, \"reads\": {}}}", 4000 + at, at * 1000);
            let length = body.len();
            let _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
        }
    });
    format!("http://{address}/api")
}

fn answered(source: &SourceRecord, value: usize) -> Vec<&str> {
    let of = |answer: &'_ SourceAnswer| match answer {
        SourceAnswer::Values(values) => values[value].as_deref().map(str::to_string),
        _ => None,
    };
    source.readings.iter().filter_map(|reading| of(&reading.answer)).map(|text| -> &str { text.leak() }).collect()
}

#[test]
fn sources_are_read_beside_the_load_and_shown_with_it() {
    let scratch = Scratch::new();
    // Long enough for several answers, of which each may take a second on a busy machine.
    let longer = SMALL.replace("trial: 400ms", "trial: 1200ms");
    let (suite, target) = (scratch.file("small.yaml", &longer), scratch.directory("t"));
    let url = array();
    let slow = scratch.file(
        "slow.sh",
        &format!("cd {}; test -e asked && exec sleep 1000; touch asked; echo load 5", scratch.path().display()),
    );
    let text = format!(
        "every: 1s\nsources:\n  array1:\n    http: {{url: '{url}'}}\n    values:\n      \
         cpu: {{json: /cpu, unit: '%', meaning: CPU of the array, divide: 100}}\n      \
         reads: {{json: /reads, unit: IOPS, meaning: reads, counter: true}}\n  \
         slow:\n    command: [sh, {slow}]\n    values: {{load: {{pattern: 'load ([0-9]+)', unit: W, meaning: load}}}}\n"
    );
    let (sources, file) = (scratch.file("sources.yaml", &text), scratch.join("r.stend"));
    let words = ["run", &suite, "--on", &target, "--sources", &sources, "--progress", "none", "-o"];
    let (_, said) = expect_exit(stend(&scratch, &words).arg(&file), 0);
    assert!(said.contains("`array1`: values: 2, every 1"), "{said}");
    let record = store::read(&file).expect("a run file");
    let [array, slow] = &record.sources[..] else { panic!("{:?}", record.sources) };
    assert_eq!((array.info.way, array.info.values.len()), (SourceWay::Http, 2));
    let cpu = answered(array, 0);
    assert!(cpu.len() >= 3 && cpu[0].starts_with("40"), "{cpu:?}");
    assert!(slow.readings.iter().all(|reading| reading.answer == SourceAnswer::Late), "{:?}", slow.readings);
    assert!(record.events.iter().all(|event| !format!("{:?}", event.kind).contains("Source")));
    let shown = show_json(&scratch, &file);
    let of = |name: &str| {
        shown["sources"].as_array().expect("sources").iter().find(|one| one["name"] == name).expect("it").clone()
    };
    let mean = of("array1")["values"][0]["measured"]["mean"].as_f64().expect("a mean");
    assert!((40.0..41.0).contains(&mean), "{mean}");
    assert!(of("slow")["late"].as_u64() > Some(0) && of("slow")["values"][0]["measured"] == Value::Null);
    let charts = shown["charts"].as_array().expect("charts").iter().filter(|chart| chart["id"] == "source-0").count();
    assert_eq!(charts, 1);
    let (table, _) = expect_exit(stend(&scratch, &["export", "--format", "csv-sources"]).arg(&file), 0);
    assert!(table.lines().any(|line| line.contains(",array1,cpu,%,") && line.contains(",ok,40")), "{table}");
    assert!(table.lines().any(|line| line.contains(",slow,load,W,") && line.contains(",late,")), "{table}");
    let page = scratch.join("r.html");
    expect_exit(stend(&scratch, &["report"]).arg(&file).arg("-o").arg(&page), 0);
    assert!(std::fs::read_to_string(&page).expect("a page").contains("id=\"sources\""));
}

#[test]
fn a_source_that_cannot_be_read_ends_the_run_before_it_begins() {
    let scratch = Scratch::new();
    let (suite, target) = (scratch.file("small.yaml", SMALL), scratch.directory("t"));
    let one = |inside: &str| {
        format!("sources: {{a: {{{inside}, values: {{v: {{pattern: '([0-9]+)', unit: x, meaning: y}}}}}}}}")
    };
    for (text, code, told) in [
        (one("command: [/no/such/program]"), 4, "the source `a` cannot be read: cannot execute `/no/such/program`"),
        (one("command: [echo, none]"), 4, "no number for `v`"),
        (one("http: {url: 'http://bob:geheim@array1/'}"), 3, "an address has no user and password"),
        ("sources: {}".into(), 3, "sources.yaml:1:10: 0 entries"),
    ] {
        let (sources, file) = (scratch.file("sources.yaml", &text), scratch.join("r.stend"));
        let words = ["run", &suite, "--on", &target, "--sources", &sources, "-o"];
        let (_, said) = expect_exit(stend(&scratch, &words).arg(&file), code);
        assert!(one_line(&said).contains(told), "{text}: {said}");
        assert!(!file.exists() && leftovers(&target).is_empty());
    }
    let sources = scratch.file("sources.yaml", &one("command: [echo, '42']"));
    let (_, said) =
        expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &target, "--sources", &sources, "--dry-run"]), 0);
    assert!(said.contains("`a` answered in") && said.contains("v: 42 x"), "{said}");
}

/// What the command line of an array prints that has two nodes.
const NODE_STATS: &str = "test \"$*\" = '-delim :' || exit 2\ncat <<END
node_id:node_name:stat_name:stat_current:stat_peak:stat_peak_time
1:node1:compression_cpu_pc:3:4:261121180000
1:node1:cpu_pc:17:20:261121180000
1:node1:write_cache_pc:25:25:261121180000
2:node2:cpu_pc:99:99:261121180000
2:node2:write_cache_pc:98:98:261121180000
END";

#[test]
fn an_array_is_asked_over_ssh_by_its_own_command_line() {
    let Some(far) = Far::start("an_array_is_asked_over_ssh") else { return };
    script(&far.scratch, "lsnodestats", NODE_STATS);
    let page = include_str!("../../../docs/formats/sources.md");
    let of_array = |text: &&str| text.contains("lsnodestats");
    let example = page.split("```yaml\n").find(of_array).and_then(|rest| rest.split("```").next()).expect("an example");
    let program = far.scratch.join("lsnodestats").display().to_string();
    let with = |host: &str, program: &str| {
        let text = example.replace("monitor@svc1", host).replace("lsnodestats", program).replace("10s", "2s");
        far.scratch.file("sources.yaml", &text)
    };
    let (suite, target) = (far.scratch.file("small.yaml", SMALL), far.scratch.directory("t"));
    let file = far.scratch.join("r.stend");
    let run = |sources: &str, code: i32| {
        let words = ["run", &suite, "--on", &target, "--sources", sources, "--progress", "none", "-o"];
        let (_, said) = expect_exit(far.stend(&words).arg(&file), code);
        one_line(&said)
    };
    let said = run(&with("closed", &program), 4);
    assert!(said.contains("the source `svc1` cannot be read: `ssh` ended with exit code 255: "), "{said}");
    let said = run(&with("far", "/no/such/program"), 4);
    assert!(said.contains("the source `svc1` cannot be read: `ssh` ended with exit code 127: "), "{said}");
    assert!(!file.exists() && leftovers(&target).is_empty());
    let said = run(&with("far", &program), 0);
    assert!(said.contains("`svc1`: values: 2, every 2"), "{said}");
    let record = store::read(&file).expect("a run file");
    let [source] = &record.sources[..] else { panic!("{:?}", record.sources) };
    assert_eq!((source.info.way, source.info.place.as_str()), (SourceWay::Ssh, "far"));
    for (value, number) in [(0, "17"), (1, "25")] {
        let answers = answered(source, value);
        assert!(!answers.is_empty() && answers.iter().all(|answer| *answer == number), "{answers:?}");
    }
    let (table, _) = expect_exit(stend(&far.scratch, &["export", "--format", "csv-sources"]).arg(&file), 0);
    assert!(table.lines().any(|line| line.contains(",svc1,cpu,%,") && line.contains(",ok,17")), "{table}");
}

/// An agent of net-snmp on a port of its own, with a community and a user of version 3; and directories with `snmp.conf` for both.
struct Agent {
    _running: Running,
    address: String,
    configs: [String; 2],
}

impl Agent {
    fn start(scratch: &Scratch, test: &str) -> Option<Agent> {
        let there = |program: &str| Command::new(program).arg("-v").output().is_ok();
        if !(there("snmpd") && there("snmpget")) {
            assert!(std::env::var_os("CI").is_none(), "{test} needs snmpd and snmp");
            eprintln!("skipped, needs snmpd and snmp: {test}");
            return None;
        }
        Some(on_a_port(|port| Agent::at(scratch, format!("udp:127.0.0.1:{port}"))))
    }

    /// One at this address; `None` if another program has the port.
    fn at(scratch: &Scratch, address: String) -> Option<Agent> {
        let state = scratch.directory("state");
        let config = scratch.file(
            "snmpd.conf",
            "sysServices 72\nrocommunity geheim2c\ncreateUser monitor SHA geheimes-wort AES anderes-wort\nrouser monitor authpriv\n",
        );
        let mut command = Command::new("snmpd");
        command.args(["-f", "-Ln", "-m", "", "-C", "-c", &config, &address]).env("SNMP_PERSISTENT_DIR", &state);
        let mut running = Running::new(&mut command);
        let of = |name: &str, text: &str| {
            let directory = scratch.directory(name);
            std::fs::write(format!("{directory}/snmp.conf"), text).expect("a file");
            directory
        };
        let configs = [
            of("v2c", "defVersion 2c\ndefCommunity geheim2c\n"),
            of(
                "v3",
                "defVersion 3\ndefSecurityName monitor\ndefSecurityLevel authPriv\ndefAuthType SHA\n\
                 defAuthPassphrase geheimes-wort\ndefPrivType AES\ndefPrivPassphrase anderes-wort\n",
            ),
        ];
        let answers = || {
            let asked = Command::new("snmpget")
                .env("SNMPCONFPATH", &configs[0])
                .args([&address, ".1.3.6.1.2.1.1.3.0"])
                .output();
            asked.is_ok_and(|asked| asked.status.success())
        };
        let is_up = is_ready("the agent answers", &mut running.child, answers);
        is_up.then_some(Agent { _running: running, address, configs })
    }
}

#[test]
fn an_agent_is_asked_by_snmp_of_both_versions_and_its_secrets_are_nowhere() {
    let scratch = Scratch::new();
    let Some(agent) = Agent::start(&scratch, "an_agent_is_asked_by_snmp_of_both_versions") else { return };
    let (suite, target) = (scratch.file("small.yaml", SMALL), scratch.directory("t"));
    let one = |(name, config): (&str, &String)| {
        let address = &agent.address;
        format!(
            "  {name}:\n    snmp: {{host: '{address}', config: {config}}}\n    values:\n      \
             up: {{oid: 1.3.6.1.2.1.1.3.0, unit: s/s, meaning: up time, counter: true, divide: 100}}\n      \
             services: {{oid: 1.3.6.1.2.1.1.7.0, unit: layers, meaning: services}}\n"
        )
    };
    let both: String = ["two", "three"].into_iter().zip(&agent.configs).map(one).collect();
    let sources = scratch.file("sources.yaml", &format!("every: 500ms\nsources:\n{both}"));
    let file = scratch.join("r.stend");
    let words = ["run", &suite, "--on", &target, "--sources", &sources, "--progress", "none", "-o"];
    expect_exit(stend(&scratch, &words).arg(&file), 0);
    let record = store::read(&file).expect("a run file");
    for source in &record.sources {
        assert!(
            !answered(source, 0).is_empty() && answered(source, 1).iter().all(|number| *number == "72"),
            "{source:?}"
        );
    }
    let bytes = std::fs::read(&file).expect("a file");
    for secret in ["geheim2c", "geheimes-wort", "anderes-wort"] {
        assert!(!bytes.windows(secret.len()).any(|part| part == secret.as_bytes()), "{secret}");
    }
}

#[test]
fn the_examples_of_the_page_are_files_that_can_be_read() {
    let page = include_str!("../../../docs/formats/sources.md");
    let examples: Vec<&str> = page
        .split("```yaml\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .filter(|text| text.contains("sources:"))
        .collect();
    assert_eq!(examples.len(), 5);
    for text in examples {
        let found = stend_spec::parse::sources(text, "example").unwrap_or_else(|error| panic!("{error}:\n{text}"));
        assert!(!found.sources.is_empty());
    }
}
