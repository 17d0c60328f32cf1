//! Mail over TLS, held against a server with a certificate of its own, and the queue of messages on a full disk.

use crate::notify::{mail_text, seeing_drives, web_server};
use crate::support::*;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::{Arc, Mutex};

/// When a server encrypts.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Cipher {
    FromTheStart,
    OnRequest,
    Never,
}

/// Lines that a server heard, each with whether it was encrypted.
type Heard = Arc<Mutex<Vec<(bool, String)>>>;

/// A server of SMTP, the certificate that it shows, and what it heard.
fn server(cipher: Cipher) -> (String, String, Heard) {
    let key = rcgen::KeyPair::generate().expect("a key");
    let parameters = rcgen::CertificateParams::new(vec!["127.0.0.1".to_string()]).expect("a name");
    let certificate = parameters.self_signed(&key).expect("a certificate");
    let private = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], private)
        .expect("a configuration");
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let heard = Heard::default();
    let to = heard.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client that trusts no such certificate goes away.
            drop(session(stream, cipher, &config, &to));
        }
    });
    (address, certificate.pem(), heard)
}

fn session(mut stream: TcpStream, cipher: Cipher, config: &Arc<ServerConfig>, heard: &Heard) -> std::io::Result<()> {
    let encrypted = || ServerConnection::new(config.clone()).expect("a session");
    let secure = |stream: TcpStream| StreamOwned::new(encrypted(), stream);
    if cipher == Cipher::FromTheStart {
        return talk(&mut secure(stream), (true, true), false, heard).map(drop);
    }
    let offers = cipher == Cipher::OnRequest;
    match talk(&mut stream, (false, true), offers, heard)? {
        true => talk(&mut secure(stream), (true, false), false, heard).map(drop),
        false => Ok(()),
    }
}

/// Talks until the client leaves, or wants to be encrypted from here on, which is `true`.
fn talk(
    stream: &mut (impl Read + Write),
    (is_encrypted, greets): (bool, bool),
    offers: bool,
    heard: &Heard,
) -> std::io::Result<bool> {
    if greets {
        stream.write_all(b"220 here\r\n")?;
    }
    let (mut is_data, mut is_login) = (false, false);
    loop {
        let line = read_line(stream)?;
        heard.lock().expect("a lock").push((is_encrypted, line.clone()));
        let command = line.split([' ', ':', '\r']).next().unwrap_or_default();
        let answer: &[u8] = match command {
            "." if is_data => {
                is_data = false;
                b"250 taken\r\n"
            }
            _ if is_data => continue,
            _ if is_login => {
                is_login = false;
                b"235 ok\r\n"
            }
            "EHLO" if offers => b"250-here\r\n250 STARTTLS\r\n",
            "EHLO" => b"250-here\r\n250 AUTH PLAIN\r\n",
            "AUTH" if line.trim_end() == "AUTH PLAIN" => {
                is_login = true;
                b"334 \r\n"
            }
            "AUTH" => b"235 ok\r\n",
            "STARTTLS" if offers => {
                stream.write_all(b"220 go\r\n")?;
                return Ok(true);
            }
            "DATA" => {
                is_data = true;
                b"354 go on\r\n"
            }
            "QUIT" => {
                stream.write_all(b"221 bye\r\n")?;
                return Ok(false);
            }
            _ => b"250 ok\r\n",
        };
        stream.write_all(answer)?;
        stream.flush()?;
    }
}

fn read_line(stream: &mut impl Read) -> std::io::Result<String> {
    let (mut line, mut byte) = (Vec::new(), [0]);
    while line.last() != Some(&b'\n') {
        stream.read_exact(&mut byte)?;
        line.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&line).into_owned())
}

/// Lines that came in the clear, without the ones that a client may say before it encrypts.
fn in_the_clear(heard: &Heard) -> Vec<String> {
    let heard = heard.lock().expect("a lock");
    let harmless = ["EHLO", "HELO", "STARTTLS", "QUIT"];
    let is_bad = |line: &&(bool, String)| !line.0 && !harmless.iter().any(|word| line.1.starts_with(word));
    heard.iter().filter(is_bad).map(|(_, line)| line.clone()).collect()
}

#[test]
fn a_mail_goes_only_to_a_server_whose_certificate_is_trusted_and_never_in_the_clear() {
    let scratch = Scratch::new();
    let password = scratch.file("password", "geheim\n");
    for (scheme, cipher) in [("smtps", Cipher::FromTheStart), ("smtp", Cipher::OnRequest), ("smtp", Cipher::Never)] {
        let (address, pem, heard) = server(cipher);
        let trusted = scratch.file("ca.pem", &pem);
        let mail = format!("to: [ops@example.com], from: stend@nas, server: \"{scheme}://{address}\"");
        let login = format!("user: stend, password: {{file: {password}}}");
        let file = scratch.file("r.yaml", &format!("receivers: {{ops: {{mail: {{{mail}, {login}}}}}}}\n"));
        let words = ["record", "--notify", &file, "--test"];
        let (refused, _) = expect_exit(&mut stend(&scratch, &words), 4);
        assert!(refused.starts_with("✖ ops: `curl`: curl: ("), "{cipher:?} {refused}");
        assert!(!heard.lock().expect("a lock").iter().any(|(_, line)| line.starts_with("MAIL")), "{heard:?}");
        let code = if cipher == Cipher::Never { 4 } else { 0 };
        let (told, _) = expect_exit(stend(&scratch, &words).env("CURL_CA_BUNDLE", &trusted), code);
        assert_eq!(told.starts_with("✔ ops: sent"), code == 0, "{cipher:?} {told}");
        assert_eq!(in_the_clear(&heard), [""; 0], "{cipher:?}");
        let heard = heard.lock().expect("a lock");
        let said = |word: &str| heard.iter().filter(|(_, line)| line.starts_with(word)).count();
        assert_eq!([said("AUTH PLAIN"), said("DATA")], [usize::from(code == 0); 2], "{heard:?}");
        if code == 0 {
            let from = heard.iter().position(|(_, line)| line.starts_with("DATA")).expect("a mail") + 1;
            let lines: String =
                heard[from..].iter().map(|(_, line)| line.as_str()).take_while(|line| *line != ".\r\n").collect();
            assert!(mail_text(&lines).contains("This one is a test"), "{lines}");
        }
    }
}

#[test]
fn a_full_disk_below_the_queue_is_told_once_and_what_waits_is_kept_as_soon_as_there_is_room() {
    if !root("a_full_disk_below_the_queue_is_told_once_and_what_waits_is_kept_as_soon_as_there_is_room") {
        return;
    }
    let _turn = host_turn();
    let scratch = Scratch::new();
    scratch.directory("stend");
    let mount = Mount::new(&["-t", "tmpfs", "-o", "size=64k", "tmpfs"], scratch.join("stend/notify"));
    let other = mount.0.join("other");
    assert!(std::fs::write(&other, vec![1; 1 << 20]).is_err(), "it is full");
    let (web, posts) = web_server();
    let late = "late: {webhook: {url: \"http://127.0.0.1:1/\"}}";
    let file =
        scratch.file("r.yaml", &format!("receivers:\n  {late}\n  hook: {{webhook: {{url: \"http://{web}/hook\"}}}}\n"));
    let drives = scratch.directory("drives");
    scratch.directory("drives/sdz");
    scratch.file("drives/sdz/size", "8\n");
    let recording = scratch.join("n.stend").to_string_lossy().into_owned();
    let words = ["record", "--every", "200ms", "--notify", &file, "-o", &recording];
    let mut command = seeing_drives(&drives, &stend(&scratch, &words));
    let mut running = Running::new(command.stdout(Stdio::null()).stderr(Stdio::piped()));
    eventually("it records", IN_TIME, || std::path::Path::new(&recording).exists());
    let arrived = || posts.lock().expect("a lock").get("/hook").map_or(0, Vec::len);
    std::fs::remove_dir_all(scratch.join("drives/sdz")).expect("the drive");
    eventually("the message that it is gone", IN_TIME, || arrived() == 1);
    scratch.directory("drives/sdz");
    scratch.file("drives/sdz/size", "8\n");
    eventually("the message that it is back", IN_TIME, || arrived() == 2);
    assert!(!mount.0.join("r/state.json").exists(), "there is no room");
    std::fs::remove_file(&other).expect("the other file");
    let waits = || {
        let state = std::fs::read_to_string(mount.0.join("r/state.json")).unwrap_or_default();
        let state: serde_json::Value = serde_json::from_str(&state).unwrap_or_default();
        let queue = state["queue"].as_array().cloned().unwrap_or_default();
        queue.iter().map(|message| message["receiver"].as_str().unwrap_or_default().to_string()).collect::<Vec<_>>()
    };
    eventually("what waits is kept", IN_TIME, || waits() == ["late", "late"]);
    running.kill();
    let mut said = String::new();
    running.child.stderr.take().expect("a stream").read_to_string(&mut said).expect("text");
    assert_eq!(said.matches("messages that wait cannot be kept").count(), 1, "{said}");
    assert_eq!((arrived(), waits().len()), (2, 2));
}
