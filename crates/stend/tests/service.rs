//! `stend serve install`: the unit for systemd, written to a file of the test and never to that of the machine.

use crate::support::*;

#[test]
fn the_unit_is_one_that_systemd_takes_and_replaces_no_foreign_file() {
    let scratch = Scratch::new();
    let (unit, _) =
        expect_exit(&mut stend(&scratch, &["serve", "install", "--dry-run", "--listen", "127.0.0.1:9000"]), 0);
    assert!(unit.contains("serve --listen 127.0.0.1:9000\n") && unit.contains("KillMode=process\n"), "{unit}");
    // The emulator of virtual machines is another user, and what it reads lies further down.
    assert!(unit.contains("\nStateDirectoryMode=0711\n"), "{unit}");
    let file = scratch.join("stend.service").display().to_string();
    let write = ["serve", "install", "--listen", "127.0.0.1:9000", "-o", &file];
    for _ in 0..2 {
        let (told, _) = expect_exit(stend(&scratch, &write).args(["--lang", "en"]), 0);
        assert!(told.contains("systemctl enable --now stend"), "{told}");
    }
    assert_eq!(std::fs::read_to_string(&file).expect("the unit"), unit);
    match std::process::Command::new("systemd-analyze").args(["verify", &file]).output() {
        Ok(verified) => {
            let said = String::from_utf8_lossy(&verified.stderr);
            assert!(verified.status.success() && !said.contains("stend.service"), "{said}");
        }
        Err(_) => eprintln!("skipped, needs systemd-analyze: what systemd says of the unit"),
    }
    // What the server is started with is what the unit starts it with.
    let more =
        ["--listen", "0.0.0.0:8421", "--name", "db1.lab", "--certificate", "a b.pem", "--key", "/k.pem", "--dry-run"];
    let (unit, _) = expect_exit(stend(&scratch, &["serve", "install"]).args(more).current_dir(scratch.path()), 0);
    let certificate = scratch.path().canonicalize().expect("a path").join("a b.pem").display().to_string();
    let line = format!("serve --listen 0.0.0.0:8421 --certificate \"{certificate}\" --key \"/k.pem\" --name db1.lab\n");
    assert!(unit.contains(&line) && unit.contains("\nWants=network-online.target\n"), "{unit}");
    let (unit, _) = expect_exit(&mut stend(&scratch, &["serve", "install", "--dry-run", "--tls"]), 0);
    assert!(unit.contains("serve --listen 127.0.0.1:8421 --tls\n"), "{unit}");
    std::fs::write(&file, "[Unit]\n# mine\n").expect("a file");
    expect_exit(&mut stend(&scratch, &write), 5);
    expect_exit(stend(&scratch, &["serve", "install", "--listen", "http://0.0.0.0:80"]).args(["-o", &file]), 2);
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), "[Unit]\n# mine\n");
}
