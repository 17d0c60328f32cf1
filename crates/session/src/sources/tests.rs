//! Sources of every kind: programs that answer, are late, fail, or answer something else.

use super::*;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;

/// The only source of a file that has this in it.
fn source(inside: &str) -> Source {
    let text = format!("sources:\n  a: {{{inside}}}\n");
    stend_spec::parse::sources(&text, "s.yaml").unwrap().sources.remove(0)
}

const CPU: &str = "values: {cpu: {pattern: 'cpu ([0-9]+)', unit: '%', meaning: CPU}}";

/// What a source answers to its first questions.
fn answers(source: &Source, count: usize) -> Vec<SourceHeard> {
    let ((to, from), (asking, over)) = (channel(), channel());
    std::thread::scope(|scope| {
        scope.spawn(move || again_and_again(source, stend_wire::now(), &to, &over));
        let heard = from.iter().take(count).collect();
        drop(asking);
        heard
    })
}

fn values(heard: &SourceHeard) -> Option<Vec<Option<&str>>> {
    match &heard.answer {
        SourceAnswer::Values(values) => Some(values.iter().map(Option::as_deref).collect()),
        _ => None,
    }
}

/// A script that goes through these lines, one at each start, and stays at the last.
fn script(place: &Path, lines: &[&str]) -> String {
    let count = place.join("count");
    let cases: String = lines.iter().enumerate().map(|(at, line)| format!("{at}) {line};; ")).collect();
    let last = lines.len() - 1;
    let text = format!(
        "n=$(cat {count} 2>/dev/null || echo 0); echo $((n < {last} ? n + 1 : {last})) > {count}; case $n in {cases}esac",
        count = count.display()
    );
    let file = place.join("answer.sh");
    std::fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_string()
}

#[test]
fn a_program_is_asked_again_and_again_and_what_it_does_wrong_is_marked() {
    let place = tempfile::tempdir().unwrap();
    let lines = ["echo cpu 12", "echo no number", "exec sleep 1000", "echo broken >&2; exit 3", "echo cpu 90"];
    let file = script(place.path(), &lines);
    let source = source(&format!("command: [sh, {file}], every: 400ms, limit: 300ms, {CPU}"));
    let heard = answers(&source, lines.len());
    assert_eq!(heard.iter().map(values).collect::<Vec<_>>()[..2], [Some(vec![Some("12")]), Some(vec![None])]);
    assert_eq!(heard[2].answer, SourceAnswer::Late);
    let SourceAnswer::Failed { why } = &heard[3].answer else { panic!("{heard:?}") };
    assert_eq!(why.en, "`sh` ended with exit code 3: broken");
    assert_eq!(values(&heard[4]), Some(vec![Some("90")]));
    assert!(heard.windows(2).all(|two| two[0].asked + Nanos(two[0].took_ns) <= two[1].asked), "{heard:?}");
}

#[test]
fn a_source_that_never_answers_ends_at_once_when_its_answers_are_not_needed_any_more() {
    let source = source(&format!("command: [sleep, '1000'], every: 1h, limit: 1h, {CPU}"));
    let ((to, from), (asking, over)) = (channel(), channel());
    std::thread::scope(|scope| {
        let source = &source;
        scope.spawn(move || again_and_again(source, stend_wire::now(), &to, &over));
        drop(asking);
    });
    assert!(from.try_recv().is_err(), "no answer was made up");
}

/// Answers HTTP requests with these bodies, one each; the last one for ever. Returns its address.
fn server(bodies: &'static [&'static str]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for (at, stream) in listener.incoming().enumerate() {
            let Ok(mut stream) = stream else { return };
            let (mut request, mut piece) = (Vec::new(), [0; 1024]);
            while !request.windows(4).any(|end| end == b"\r\n\r\n") {
                match stream.read(&mut piece) {
                    Ok(n @ 1..) => request.extend_from_slice(&piece[..n]),
                    _ => break,
                }
            }
            let allowed = String::from_utf8_lossy(&request).contains("Authorization: Bearer geheim");
            let (status, body) = match allowed {
                true => ("200 OK", bodies[at.min(bodies.len() - 1)]),
                false => ("401 Unauthorized", "who are you?"),
            };
            let length = body.len();
            // One that has gone hears nothing.
            let _ = write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
        }
    });
    format!("http://{address}/metrics?token=x")
}

#[test]
fn http_is_read_by_curl_with_its_secret_in_a_file_and_nowhere_else() {
    let place = tempfile::tempdir().unwrap();
    let config = place.path().join("array.curl");
    std::fs::write(&config, "header = \"Authorization: Bearer geheim\"\n").unwrap();
    let url = server(&[r#"{"a": [{"cpu": 41.5}]}"#, "busy{d=\"a\"} 7\n", "<html>"]);
    let both = "values: {j: {json: /a/0/cpu, unit: '%', meaning: CPU}, p: {prometheus: busy, unit: x, meaning: busy}}";
    let config = config.to_str().unwrap();
    let asked = source(&format!("http: {{url: '{url}', config: {config}}}, every: 200ms, {both}"));
    let heard: Vec<_> = answers(&asked, 3)
        .iter()
        .map(|heard| values(heard).map(|v| v.iter().map(|v| v.map(String::from)).collect::<Vec<_>>()))
        .collect();
    let some = |text: &str| Some(text.to_string());
    assert_eq!(heard, [Some(vec![some("41.5"), None]), Some(vec![None, some("7")]), Some(vec![None, None])]);
    let kept = info(&asked);
    assert!(!kept.place.contains("token") && kept.place.starts_with("http://127.0.0.1:"), "{kept:?}");
    assert!(words(&asked).unwrap().iter().all(|word| !word.contains("geheim")));
    let refused = source(&format!("http: {{url: '{url}'}}, {both}"));
    let why = once(&refused).err().unwrap();
    assert!(why.en.contains("`curl` ended with exit code 22") && why.en.contains("401"), "{why:?}");
}

#[test]
fn a_source_that_cannot_be_read_names_the_value_and_the_program() {
    let absent = once(&source(&format!("command: [/no/such/program], {CPU}"))).err().unwrap();
    assert!(absent.en.starts_with("cannot execute `/no/such/program`"), "{absent:?}");
    let other = once(&source(&format!("command: [echo, cpu is idle], {CPU}"))).err().unwrap();
    assert_eq!(other.en, "no number for `cpu`: nothing is in that place of the answer");
    let late = once(&source(&format!("command: [sleep, '1000'], every: 1s, limit: 100ms, {CPU}"))).err().unwrap();
    assert!(late.en.starts_with("no answer within 100"), "{late:?}");
}

#[test]
fn what_asks_an_agent_has_no_secret_and_prints_plain_numbers() {
    let asked = source(
        "snmp: {host: 'udp:sw1:161', config: /etc/stend/sw1}, limit: 2s, values: {a: {oid: 1.3.6.1, unit: x, meaning: y}, b: {oid: .1.3.7, unit: x, meaning: y}}",
    );
    let words = words(&asked).unwrap().join(" ");
    assert_eq!(words, "env SNMPCONFPATH=/etc/stend/sw1 snmpget -m  -OnqetU -r 0 -t 5 udp:sw1:161 .1.3.6.1 .1.3.7");
}
