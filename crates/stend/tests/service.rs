//! `stend serve install`: the unit for systemd, written to a file of the test and never to that of the machine.

use crate::support::*;

#[test]
fn the_unit_is_one_that_systemd_takes_and_replaces_no_foreign_file() {
    let scratch = Scratch::new();
    let (unit, _) =
        expect_exit(&mut stend(&scratch, &["serve", "install", "--dry-run", "--listen", "127.0.0.1:9000"]), 0);
    assert!(unit.contains("serve --listen 127.0.0.1:9000\n") && unit.contains("KillMode=process\n"), "{unit}");
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
    std::fs::write(&file, "[Unit]\n# mine\n").expect("a file");
    expect_exit(&mut stend(&scratch, &write), 5);
    expect_exit(stend(&scratch, &["serve", "install", "--listen", "0.0.0.0:80"]).args(["-o", &file]), 2);
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), "[Unit]\n# mine\n");
}
