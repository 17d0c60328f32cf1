//! Orders that are read again as they were written, and what is said of those that cannot be carried out.

use super::*;
use crate::order::{LoadOf, OnLoss};
use crate::workload::Engine;
use expect_test::{Expect, expect};
use stend_base::{Kind, Lang};

fn named(file: &str, text: &str) -> NamedText {
    NamedText { file: file.into(), text: text.into() }
}

fn of_suite() -> Order {
    let work = SuiteWork {
        suite: named("quick.yaml", "suite: x\n# «кавычки» \"и\" всё такое\n"),
        directory: "/home/u/suites".into(),
        traces: vec![TraceFile { file: "/home/u/a.iolog".into(), sha256: "0a".repeat(32) }],
        seed: u64::MAX,
        engine: Some(Engine::Fio),
        repeats: Some(12),
        time_budget: Some(Nanos::secs(90)),
    };
    Order {
        version: VERSION,
        work: Work::Suite(Box::new(work)),
        stands: Vec::new(),
        rebuild: false,
        on: vec!["/dev/sdb".into(), "serial:X".into()],
        against: vec!["/dev/sdc".into()],
        lab: None,
        ssh: vec!["root@db1".into()],
        hosts: None,
        groups: Vec::new(),
        load: LoadOf::default(),
        on_loss: OnLoss::Stop,
        storage: Vec::new(),
        observe: Vec::new(),
        sources: Some(named("array.yaml", "sources: {}\n")),
        permission: Permission {
            confirm: vec!["serial:X".into()],
            overwrite_signatures: vec!["ext4".into()],
            commands: true,
            beside: true,
        },
        label: Some("до ремонта / 2".into()),
        gate: Some(named("nightly.yaml", "gate: g\nlimits: [iops > 1]\n")),
        expect: vec!["rand-read p99 < 5ms".into()],
        output: Some("/tmp/a.stend".into()),
    }
}

/// As JSON, by the names that it is serialised with.
fn text(order: &Order) -> String {
    let raw = serde_json::to_string_pretty(order).unwrap();
    assert!(!raw.contains("null"), "{raw}");
    raw
}

#[test]
fn a_label_is_one_to_sixty_four_characters_that_steer_nothing() {
    for fits in ["x", "до ремонта", &"ж".repeat(64), "R-1", "a/b", " "] {
        assert_eq!(not_a_label(fits), None, "{fits:?}");
    }
    for wrong in ["", &"ж".repeat(65), "a\nb", "\u{1b}[2J", "\u{85}", "last"] {
        assert!(not_a_label(wrong).is_some(), "{wrong:?}");
        let order = Order { label: Some(wrong.into()), ..of_suite() };
        assert_eq!(super::order(&text(&order), "o.json").unwrap_err().kind, Kind::Spec, "{wrong:?}");
    }
}

#[test]
fn what_is_serialised_is_what_is_read() {
    let resumed = Order {
        work: Work::Resume { resume: "last".into() },
        on: Vec::new(),
        against: Vec::new(),
        label: None,
        output: None,
        ..of_suite()
    };
    let campaign = Order {
        stands: vec![named("/s/a.yaml", "stand: a\n"), named("/s/b.yaml", "stand: b\n")],
        rebuild: true,
        on: Vec::new(),
        against: Vec::new(),
        permission: Permission { commands: true, ..Permission::default() },
        lab: Some("six-nvme".into()),
        ssh: Vec::new(),
        storage: vec!["ssh:array1".into()],
        observe: vec!["ssh:switch1".into(), "ssh:nas=/srv/a,/srv/b".into()],
        ..of_suite()
    };
    let fleet = Order {
        ssh: vec!["a".into(), "root@b".into()],
        on_loss: OnLoss::GoOn,
        on: vec!["a:/x".into(), "root@b:/y".into()],
        ..of_suite()
    };
    assert!(text(&fleet).contains(r#""on_loss": "go-on""#));
    let of_file = Order {
        ssh: Vec::new(),
        against: Vec::new(),
        hosts: Some(named("/h.yaml", "hosts: {a: {ssh: a}, b: {exec: [x]}}\n")),
        groups: vec!["rack1".into()],
        on_loss: OnLoss::GoOn,
        ..of_suite()
    };
    assert!(text(&of_suite()).contains(r#""ssh": "root@db1""#), "as before there could be several");
    for asked in [of_suite(), resumed, campaign, fleet, of_file] {
        assert_eq!(order(&text(&asked), "o.json").unwrap(), asked);
    }
}

fn check(text: &str, expected: Expect) {
    let error = order(text, "o.json").unwrap_err();
    assert_eq!(error.kind, Kind::Spec);
    expected.assert_eq(&format!("{}\n{}\n", error.render(Lang::En), error.render(Lang::Ru)));
}

const SUITE: &str = "suite: {file: q.yaml, text: 'suite: x'}, seed: 1";

#[test]
fn orders_that_are_truncated_from_the_future_contradictory_or_hostile_are_refused_with_the_place() {
    check(
        "{order: 2, resume: last}",
        expect![[r#"
            error: o.json:1:9: an order of version 2
            hint: this Stend reads version 1
            ошибка: o.json:1:9: заказ версии 2
            совет: этот Stend читает версию 1
        "#]],
    );
    check(
        "{resume: last}",
        expect![[r#"
            error: o.json:1:1: an order: the key `order` is missing
            hint: docs/formats/order.md describes every key; `stend run SUITE --on PATH --print-order` prints an order
            ошибка: o.json:1:1: заказ: нет ключа `order`
            совет: все ключи описаны в docs/formats/order.md; заказ напечатает `stend run НАБОР --on ПУТЬ --print-order`
        "#]],
    );
    check(
        "{order: 1, resume: last, on",
        expect![[r#"
            error: o.json:1:1: `{` is never closed
            hint: look at indentation, quotes and brackets in front of this place
            ошибка: o.json:1:1: скобка `{` не закрыта
            совет: посмотрите на отступы, кавычки и скобки перед этим местом
        "#]],
    );
    check(
        "{order: 1, resume: last, seed: 1}",
        expect![[r#"
            error: o.json:1:1: an order has either `suite` with its keys, or `resume`
            hint: docs/formats/order.md describes every key; `stend run SUITE --on PATH --print-order` prints an order
            ошибка: o.json:1:1: в заказе либо `suite` со своими ключами, либо `resume`
            совет: все ключи описаны в docs/formats/order.md; заказ напечатает `stend run НАБОР --on ПУТЬ --print-order`
        "#]],
    );
    check(
        &format!("{{order: 1, {SUITE}}}"),
        expect![[r#"
            error: o.json:1:1: an order needs `on`, `stands` or `resume`
            hint: docs/formats/order.md describes every key; `stend run SUITE --on PATH --print-order` prints an order
            ошибка: o.json:1:1: заказу нужно `on`, `stands` или `resume`
            совет: все ключи описаны в docs/formats/order.md; заказ напечатает `stend run НАБОР --on ПУТЬ --print-order`
        "#]],
    );
    check(
        "{order: 1, suite: {file: q.yaml, text: x}, on: [/dev/sdb]}",
        expect![[r#"
            error: o.json:1:1: an order with a suite needs a `seed`: two processes must make the same plan of it
            hint: docs/formats/order.md describes every key; `stend run SUITE --on PATH --print-order` prints an order
            ошибка: o.json:1:1: заказу с набором нужен `seed`: два процесса должны составить по нему один и тот же план
            совет: все ключи описаны в docs/formats/order.md; заказ напечатает `stend run НАБОР --on ПУТЬ --print-order`
        "#]],
    );
    check(
        &format!("{{order: 1, {SUITE}, on: [/dev/sdb], lab: a, ssh: b}}"),
        expect![[r#"
            error: o.json:1:1: `lab` and `ssh` are two places
            hint: docs/formats/order.md describes every key; `stend run SUITE --on PATH --print-order` prints an order
            ошибка: o.json:1:1: `lab` и `ssh` — два разных места
            совет: все ключи описаны в docs/formats/order.md; заказ напечатает `stend run НАБОР --on ПУТЬ --print-order`
        "#]],
    );
    check(
        &format!("{{order: 1, {SUITE}, on: [a], ssh: []}}"),
        expect![[r#"
        error: o.json:1:76: fewer than 1 of them
        hint: docs/formats/order.md describes every key; `stend run SUITE --on PATH --print-order` prints an order
        ошибка: o.json:1:76: их меньше 1
        совет: все ключи описаны в docs/formats/order.md; заказ напечатает `stend run НАБОР --on ПУТЬ --print-order`
    "#]],
    );
    check(
        &format!("{{order: 1, {SUITE}, on: [a], stands: [{{file: b, text: c}}]}}"),
        expect![[r#"
            error: o.json:1:1: `stands` make the targets: neither `on` nor `resume` goes with them
            hint: docs/formats/order.md describes every key; `stend run SUITE --on PATH --print-order` prints an order
            ошибка: o.json:1:1: объекты создают `stands`: с ними нельзя ни `on`, ни `resume`
            совет: все ключи описаны в docs/formats/order.md; заказ напечатает `stend run НАБОР --on ПУТЬ --print-order`
        "#]],
    );
    check(
        &format!("{{order: 1, {SUITE}, stands: [{{file: b, text: c}}], permission: {{confirm: [x]}}}}"),
        expect![[r#"
            error: o.json:1:1: drives of a stand are confirmed in its file, not in `permission`
            hint: docs/formats/order.md describes every key; `stend run SUITE --on PATH --print-order` prints an order
            ошибка: o.json:1:1: накопители стенда подтверждает его файл, а не `permission`
            совет: все ключи описаны в docs/formats/order.md; заказ напечатает `stend run НАБОР --on ПУТЬ --print-order`
        "#]],
    );
    check(
        &format!("{{order: 1, {SUITE}, on: [a], rebuild: true}}"),
        expect![[r#"
            error: o.json:1:1: `rebuild` needs `stands`
            hint: docs/formats/order.md describes every key; `stend run SUITE --on PATH --print-order` prints an order
            ошибка: o.json:1:1: для `rebuild` нужны `stands`
            совет: все ключи описаны в docs/formats/order.md; заказ напечатает `stend run НАБОР --on ПУТЬ --print-order`
        "#]],
    );
    check(
        &format!("{{order: 1, {SUITE}, on: [\"a\\u001bb\"]}}"),
        expect![[r#"
            error: o.json:1:67: not 1 to 4096 bytes without control characters
            hint: docs/formats/order.md describes every key; `stend run SUITE --on PATH --print-order` prints an order
            ошибка: o.json:1:67: нужно от 1 до 4096 байт без управляющих символов
            совет: все ключи описаны в docs/formats/order.md; заказ напечатает `stend run НАБОР --on ПУТЬ --print-order`
        "#]],
    );
    check(
        &format!("{{order: 1, {SUITE}, on: [a], permission: {{comands: true}}}}"),
        expect![[r#"
            error: o.json:1:84: a permission: unknown key `comands`
            hint: did you mean `commands`?
            ошибка: o.json:1:84: разрешение: неизвестный ключ `comands`
            совет: возможно, `commands`?
        "#]],
    );
    check(
        &format!("{{order: 1, {SUITE}, on: [a], time_budget: 8d}}"),
        expect![[r#"
            error: o.json:1:84: a run takes 1 s to 7 days
            hint: docs/formats/order.md describes every key; `stend run SUITE --on PATH --print-order` prints an order
            ошибка: o.json:1:84: прогон длится от 1 с до 7 суток
            совет: все ключи описаны в docs/formats/order.md; заказ напечатает `stend run НАБОР --on ПУТЬ --print-order`
        "#]],
    );
    check(
        &format!("{{order: 1, {SUITE}, on: [a], traces: [{{file: a, sha256: XY}}]}}"),
        expect![[r#"
            error: o.json:1:98: not 64 hexadecimal digits, letters in lower case
            hint: docs/formats/order.md describes every key; `stend run SUITE --on PATH --print-order` prints an order
            ошибка: o.json:1:98: не 64 шестнадцатеричные цифры, буквы строчные
            совет: все ключи описаны в docs/formats/order.md; заказ напечатает `stend run НАБОР --on ПУТЬ --print-order`
        "#]],
    );
    check(
        "{order: 1, suite: {file: a, text: b}, seed: -1, on: [a]}",
        expect![[r#"
            error: o.json:1:45: a seed is a whole number below 2^64
            hint: docs/formats/order.md describes every key; `stend run SUITE --on PATH --print-order` prints an order
            ошибка: o.json:1:45: `seed` — целое число меньше 2^64
            совет: все ключи описаны в docs/formats/order.md; заказ напечатает `stend run НАБОР --on ПУТЬ --print-order`
        "#]],
    );
    check(
        &format!("{{order: 1, {SUITE}, on: [{}]}}", "a, ".repeat(1001)),
        expect![[r#"
            error: o.json:1:66: more than 1000 of them
            hint: docs/formats/order.md describes every key; `stend run SUITE --on PATH --print-order` prints an order
            ошибка: o.json:1:66: их больше 1000
            совет: все ключи описаны в docs/formats/order.md; заказ напечатает `stend run НАБОР --on ПУТЬ --print-order`
        "#]],
    );
}

#[test]
fn an_order_that_is_too_large_is_not_read() {
    let large = format!("{{order: 1, resume: '{}'}}", "x".repeat(ORDER_MAX));
    assert!(order(&large, "o.json").unwrap_err().message.en.contains("larger than 8 MiB"));
}

#[test]
fn what_a_loss_means_is_for_several_load_hosts_alone() {
    for on_loss in ["stop", "go-on"] {
        let error = order(&format!("{{order: 1, {SUITE}, on: [/x], ssh: a, on_loss: {on_loss}}}"), "o").unwrap_err();
        assert!(error.message.en.contains("`on_loss` needs several load hosts"), "{error}");
        let two = order(&format!("{{order: 1, {SUITE}, on: [/x], ssh: [a, b], on_loss: {on_loss}}}"), "o").unwrap();
        assert_eq!(two.on_loss == OnLoss::GoOn, on_loss == "go-on");
    }
}
