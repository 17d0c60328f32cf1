//! How the numbers of an imported run came about: the files, and the tool's own numbers beside ours, as it printed them.

use super::{Page, facts, table};
use crate::markup::Markup;
use stend_base::{Say, format, say};
use stend_record::{Imported, ToolNumber, ToolOp, TrialRecord};

/// Rows of the table: the run file has them all.
const ROWS_MAX: usize = 200;

/// Files, and numbers as printed.
pub(super) fn origin(m: &mut Markup, page: &Page, imported: &Imported) {
    let tool = &imported.tool;
    m.line("p", "", &say!(
        "Another tool measured: {tool}. Stend imported its printed results; what it does not print is unknown. Trials of a case ran one after the other. Every number is kept as printed.",
        "Измерял другой инструмент: {tool}. Импортированы напечатанные им результаты; чего он не печатает, неизвестно. Испытания одного случая шли подряд, и каждое число сохранено так, как напечатано."
    ));
    let of = |file: &stend_record::SourceFile| {
        let size = Say::both(|lang| format::bytes(file.size, lang));
        let (version, en, ru) = (&file.version, size.en, size.ru);
        (Say::same(&file.name), say!("{version}, {en}", "{version}, {ru}"))
    };
    facts(m, &imported.files.iter().map(of).collect::<Vec<_>>());
    m.line("h3", "", &say!("As {tool} printed it", "Как напечатал {tool}"));
    let rows = || page.run.trials.iter().flat_map(|trial| of_trial(trial).map(move |told| (trial, told)));
    let rest = match tool.as_str() {
        "fio" => {
            let shown = || rows().take(ROWS_MAX);
            table(m, "numbers", &of_fio(), |m| shown().for_each(|(trial, told)| row(m, page, trial, told)));
            rows().count().saturating_sub(ROWS_MAX)
        }
        // What other tools print differs too much for columns: a row for each number.
        _ => {
            let each = || rows().flat_map(|(trial, told)| told.numbers.iter().map(move |number| (trial, told, number)));
            table(m, "numbers", &of_others(), |m| {
                for (trial, told, number) in each().take(ROWS_MAX) {
                    m.el("tr", "", |m| {
                        first_cells(m, page, trial, told);
                        m.el("td", "", |m| m.text(&number.name));
                        m.el("td", "", |m| m.text(&printed(number)));
                    });
                }
            });
            each().count().saturating_sub(ROWS_MAX)
        }
    };
    if rest > 0 {
        m.line("p", "note", &say!("and {rest} more rows in the run file", "и ещё строк в файле прогона: {rest}"));
    }
}

/// What a row begins with.
fn places() -> [Say; 4] {
    [say!("Case", "Случай"), say!("Trial", "Испытание"), say!("Job", "Задание"), say!("Operation", "Операция")]
}

fn of_others() -> Vec<Say> {
    places().into_iter().chain([say!("Number", "Число"), say!("as printed", "как напечатано")]).collect()
}

fn of_fio() -> Vec<Say> {
    let own = [
        Say::same("total_ios"),
        Say::same("runtime"),
        Say::same("iops"),
        Say::same("bw"),
        say!("latency, mean", "задержка, средняя"),
        Say::same("p99"),
    ];
    places().into_iter().chain(own).collect()
}

fn of_trial(trial: &TrialRecord) -> impl Iterator<Item = &ToolOp> {
    trial.outcome.iter().filter_map(|outcome| outcome.tool_output.as_ref()).flat_map(|told| &told.ops)
}

fn row(m: &mut Markup, page: &Page, trial: &TrialRecord, told: &ToolOp) {
    let named = |names: &[&str]| {
        let of = |name: &&str| told.numbers.iter().find(|number| number.name == **name);
        names.iter().find_map(of).map_or(String::new(), printed)
    };
    let latency = &told.latency;
    let mean = [format!("{latency}_ns.mean"), format!("{latency}.mean")];
    let p99 = [format!("{latency}_ns.percentile.99.000000"), format!("{latency}.percentile.99.000000")];
    let either = |names: &[String; 2]| {
        let value = named(&[names[0].as_str(), names[1].as_str()]);
        if value.is_empty() { value } else { format!("{latency} {value}") }
    };
    let numbers = [
        named(&["total_ios"]),
        named(&["runtime"]),
        named(&["iops"]),
        named(&["bw_bytes", "bw"]),
        either(&mean),
        either(&p99),
    ];
    m.el("tr", "", |m| {
        first_cells(m, page, trial, told);
        numbers.iter().for_each(|number| m.el("td", "", |m| m.text(number)));
    });
}

fn first_cells(m: &mut Markup, page: &Page, trial: &TrialRecord, told: &ToolOp) {
    let label = page.findings.cases.iter().find(|case| case.case == trial.case).map_or("", |case| &case.label);
    m.with("th", &[("scope", "row")], |m| m.text(label));
    m.el("td", "", |m| m.text(&(trial.block + 1).to_string()));
    m.el("td", "", |m| m.text(&format!("{}.{}", told.stream + 1, told.job + 1)));
    m.line("td", "", &crate::words::op(told.op));
}

fn printed(number: &ToolNumber) -> String {
    format!("{} {}", number.printed, number.unit).trim_end().to_string()
}

#[cfg(test)]
mod tests {
    use crate::fixture;
    use stend_base::Lang;
    use stend_record::{Imported, SourceFile, ToolNumber, ToolOp, ToolOutput};
    use stend_spec::workload::Op;

    #[test]
    fn an_imported_run_shows_the_numbers_as_printed_and_claims_no_order_of_its_own() {
        let (mut run, findings) = (fixture::run(), fixture::findings());
        let number = |name: &str, unit: &str, printed: &str| ToolNumber {
            name: name.into(),
            unit: unit.into(),
            printed: printed.into(),
        };
        let numbers = vec![
            number("iops", "1/s", "10108.891109"),
            number("clat_ns.mean", "ns", "96295.301314"),
            number("clat_ns.percentile.99.000000", "ns", "152576"),
        ];
        let told = ToolOp {
            stream: 0,
            job: 1,
            op: Op::Read,
            latency: "clat".into(),
            count: 1,
            sum_ns: 1,
            min_ns: 1,
            max_ns: 1,
            occupied_ns: None,
            mergeable: false,
            percentiles: Vec::new(),
            numbers,
        };
        let own = crate::html(&findings, &run, Lang::En);
        let file = SourceFile { name: "a<b>.json".into(), version: "fio-3.33".into(), ..SourceFile::default() };
        run.header.imported = Some(Imported { tool: "fio".into(), files: vec![file], ..Imported::default() });
        run.trials[0].outcome.as_mut().unwrap().tool_output =
            Some(ToolOutput { ops: vec![told], ..ToolOutput::default() });
        let page = crate::html(&findings, &run, Lang::En);
        for shown in
            ["10108.891109 1/s", "clat 96295.301314 ns", "clat 152576 ns", "a&lt;b&gt;.json", "As fio printed it"]
        {
            assert!(page.contains(shown), "{shown}");
        }
        run.header.imported.as_mut().unwrap().tool = "elbencho".into();
        let other = crate::html(&findings, &run, Lang::En);
        for shown in ["<td>clat_ns.mean</td>", "<td>96295.301314 ns</td>", "As elbencho printed it"] {
            assert!(other.contains(shown) && !page.contains(shown), "{shown}");
        }
        assert!(own.contains("interleaved blocks") && !page.contains("interleaved blocks"));
        assert!(!own.contains("kept as printed"));
    }
}
