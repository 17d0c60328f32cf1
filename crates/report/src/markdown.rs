//! A run as Markdown, to be put into a page, a comment or the summary of a CI job: the verdict, one table of results, the matrix
//! of NUMA nodes, what to keep in mind. What else is known is in the report.

use crate::comparison::gate;
use crate::density;
use crate::figures::{self, LatencyUnit, NONE};
use crate::hosts;
use crate::ours::{COMMENT, COMMENT_END};
use crate::rates::{self, RowRates};
use crate::words;
use stend_analyse::Findings;
use stend_analyse::compare::GateFinding;
use stend_analyse::findings::{CaseFinding, CheckStatus, DensityFinding, HostsFinding, NumaFinding, OpFinding};
use stend_base::{Lang, Say, Share, say};

/// Quantiles of an operation that have a column, in the order of findings.
const QUANTILES: [Share; 3] = [Share(0.5), Share(0.99), Share(0.999)];
/// Rows of the table at most: hosts of code cut a comment at 64 KiB, and nobody reads more.
const ROWS_MAX: usize = 300;

/// A run as Markdown.
pub fn markdown(findings: &Findings, lang: Lang) -> String {
    gated_markdown(findings, None, lang)
}

/// The same behind what a gate says of it.
pub fn gated_markdown(findings: &Findings, gate: Option<&GateFinding>, lang: Lang) -> String {
    let mut parts: Vec<String> = gate.iter().flat_map(|found| held(found, lang)).collect();
    parts.extend([format!("**{}**", plain(findings.verdict.get(lang))), plain(findings.grade.banner.get(lang))]);
    match findings.density.as_slice() {
        [] => parts.push(results(&findings.cases, lang)),
        found => parts.extend(found.iter().map(|one| instances(one, lang))),
    }
    parts.extend(hosts::in_short(findings).map(|said| plain(said.get(lang))));
    parts.extend(by_host(findings, lang));
    for matrix in &findings.numa {
        parts.push(format!("{}: {}", plain(&matrix.label), plain(matrix.say().get(lang))));
        if matrix.cells.len() > 1 {
            parts.push(nodes(matrix, lang));
        }
    }
    let not_run =
        findings.not_run.iter().map(|case| format!("{}: {}", plain(&case.label), plain(case.reason.get(lang))));
    let caveats = findings.caveats.iter().map(|caveat| format!("! {}", plain(caveat.say().get(lang))));
    parts.push(list(not_run.chain(caveats)));
    parts.push(plain(crate::text::origin(findings).get(lang)));
    parts.retain(|part| !part.is_empty());
    marked(&parts.join("\n\n"))
}

/// A gate in a sentence, and each value that it holds.
fn held(found: &GateFinding, lang: Lang) -> [String; 2] {
    let first = format!("**{} {}**", gate::glyph(found.outcome), plain(gate::summary(found).get(lang)));
    [first, list(gate::of_run(found).iter().map(|(glyph, say)| format!("{glyph} {}", plain(say.get(lang)))))]
}

/// Markdown between the comments by which it is known as ours.
pub(crate) fn marked(text: &str) -> String {
    format!("{COMMENT}{text}\n\n{COMMENT_END}")
}

/// A row for each case, and for each of several operations.
fn results(cases: &[CaseFinding], lang: Lang) -> String {
    if cases.is_empty() {
        let nothing = say!("No trial of any case completed.", "Ни одно испытание ни одного случая не завершилось.");
        return nothing.get(lang).to_string();
    }
    let unit = LatencyUnit::for_cases(cases);
    let head = |say: Say| say.get(lang).to_string();
    let mut heads = vec![head(say!("case", "случай")), head(say!("result", "результат")), "± 95 %".to_string()];
    let unit_name = unit.name();
    let latency = |name: Say| format!("{}, {}", name.get(lang), unit_name.get(lang));
    heads.extend(QUANTILES.map(|q| latency(figures::quantile_name(q))));
    heads.push(latency(say!("max", "макс.")));
    let mut all: Vec<Vec<String>> = cases.iter().flat_map(|case| case_rows(case, unit, lang)).collect();
    let left = all.len().saturating_sub(ROWS_MAX);
    all.truncate(ROWS_MAX);
    let table = rows(&heads, &["---", "--:", "--:", "--:", "--:", "--:", "--:"], all.into_iter());
    let more = say!("… and {left} lines more.", "… и ещё строк: {left}.");
    if left > 0 { format!("{table}\n\n{}", more.get(lang)) } else { table }
}

fn case_rows(case: &CaseFinding, unit: LatencyUnit, lang: Lang) -> Vec<Vec<String>> {
    let failed = case.checks.iter().filter(|check| check.status == CheckStatus::Fail);
    let marks: String = failed.map(|check| format!(" {} {}", words::check_glyph(check.status), check.id)).collect();
    let (total, of_ops) = rates::of_case(case);
    let only = (case.ops.len() == 1).then(|| &case.ops[0]);
    let mut all = vec![row(plain(&case.label) + &marks, &total, only, unit, lang)];
    for (op, rates) in case.ops.iter().zip(&of_ops).filter(|_| only.is_none()) {
        let name = format!("{}, {}", plain(&case.label), plain(figures::op_name(case, op).get(lang)));
        all.push(row(name, rates, Some(op), unit, lang));
    }
    all
}

fn row(name: String, rates: &RowRates, op: Option<&OpFinding>, unit: LatencyUnit, lang: Lang) -> Vec<String> {
    let joined = |i: usize| {
        let shown = [Some(&rates.first), rates.second.as_ref()].into_iter().flatten();
        shown.map(|pair| pair[i].get(lang).to_string()).collect::<Vec<_>>().join("<br>")
    };
    let mut cells = vec![name, joined(0), joined(1)];
    let Some(op) = op else {
        cells.extend(std::iter::repeat_n(String::new(), QUANTILES.len() + 1));
        return cells;
    };
    let quantile = |i: usize| op.quantiles.get(i).map(|q| figures::quantile(q, unit));
    cells.extend((0..QUANTILES.len()).map(|i| quantile(i).map_or(NONE.to_string(), |q| q.get(lang).to_string())));
    cells.push(figures::latency_max(figures::largest(op), op.censored, unit).get(lang).to_string());
    cells
}

/// A row for each load host in each case; `None` where there is one.
fn by_host(findings: &Findings, lang: Lang) -> Option<String> {
    let heads = [say!("case", "случай"), say!("load host", "нагружающая машина"), say!("result", "результат")];
    let heads: Vec<String> = heads.iter().map(|head| head.get(lang).to_string()).collect();
    let of_case = |(case, found): (&CaseFinding, &HostsFinding)| {
        let names: Vec<String> = found.hosts.iter().map(|host| plain(&host.name)).collect();
        let rates = hosts::rates_of(case, found);
        let row = |(name, rates): (String, &[Say; 2])| {
            vec![plain(&case.label), name, hosts::rate(case, rates).get(lang).to_string()]
        };
        names.into_iter().zip(&rates).map(row).collect::<Vec<_>>()
    };
    let mut all: Vec<Vec<String>> = hosts::of_cases(findings).flat_map(of_case).collect();
    all.truncate(ROWS_MAX);
    (!all.is_empty()).then(|| rows(&heads, &["---", "---", "--:"], all.into_iter()))
}

/// How many instances hold: the answer is in the verdict.
fn instances(found: &DensityFinding, lang: Lang) -> String {
    let heads: Vec<String> = density::columns(found).iter().map(|head| head.get(lang).to_string()).collect();
    let aligned = vec!["--:"; heads.len()];
    let cells = found.points.iter().map(|point| {
        let told = density::cells(point).into_iter().map(|cell| cell.get(lang).to_string());
        std::iter::once(point.instances.to_string()).chain(told).collect()
    });
    format!("{}\n\n{}", rows(&heads, &aligned, cells), plain(density::origin(found).get(lang)))
}

/// A row for each node of threads, a column for each node of memory.
fn nodes(matrix: &NumaFinding, lang: Lang) -> String {
    let node = |node, of: Say| figures::numa_node(node, matrix.device, &of).get(lang).to_string();
    let columns = matrix.columns();
    let memory = columns.iter().map(|memory| node(*memory, say!("memory on", "память на")));
    let heads: Vec<String> = std::iter::once(String::new()).chain(memory).collect();
    let aligned: Vec<&str> = (0..heads.len()).map(|i| if i == 0 { "---" } else { "--:" }).collect();
    let cell = |cpu, memory| match matrix.cell(cpu, memory) {
        Some(found) => {
            let rate = rates::of_nodes(matrix, found).get(lang).to_string();
            found.percent(lang).map_or(rate.clone(), |percent| format!("{rate}, {percent}"))
        }
        None => NONE.to_string(),
    };
    let lines = matrix.rows().into_iter().map(|cpu| {
        let cells = columns.iter().map(|memory| cell(cpu, *memory));
        std::iter::once(node(cpu, say!("threads on", "потоки на"))).chain(cells).collect()
    });
    rows(&heads, &aligned, lines)
}

/// A table; cells are Markdown already.
pub(crate) fn rows(heads: &[String], aligned: &[&str], lines: impl Iterator<Item = Vec<String>>) -> String {
    let head = [format!("| {} |", heads.join(" | ")), format!("|{}|", aligned.join("|"))];
    head.into_iter().chain(lines.map(|cells| format!("| {} |", cells.join(" | ")))).collect::<Vec<_>>().join("\n")
}

/// A list; items are Markdown already.
pub(crate) fn list(items: impl Iterator<Item = String>) -> String {
    items.map(|item| format!("- {item}")).collect::<Vec<_>>().join("\n")
}

/// Text that means nothing to Markdown or HTML, on one line.
pub(crate) fn plain(text: &str) -> String {
    let clean = crate::text::clean(text);
    clean.chars().fold(String::with_capacity(clean.len()), |mut out, c| {
        match c {
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '|' | '*' | '_' | '`' | '[' | ']' | '#' | '~' | '@' => out.extend(['\\', c]),
            _ => out.push(c),
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use expect_test::expect_file;

    #[test]
    fn a_run_is_a_page_of_markdown_with_the_matrix_of_its_nodes() {
        let findings = fixture::findings();
        for lang in [Lang::En, Lang::Ru] {
            let page = markdown(&findings, lang);
            let golden = format!("{}/tests/golden/run_{}.md", env!("CARGO_MANIFEST_DIR"), lang.tag());
            expect_file![golden].assert_eq(&page);
        }
    }

    #[test]
    fn a_search_for_instances_has_a_row_for_each_number() {
        let findings = fixture::density_findings();
        let page = markdown(&findings, Lang::En);
        assert!(page.contains("| N | held | within |") && page.contains("\n| 8 | 1 / 3 |"), "{page}");
        assert!(!page.contains("| case |"), "{page}");
    }

    #[test]
    fn hostile_names_mean_nothing_to_markdown() {
        let page = markdown(&fixture::hostile_findings(), Lang::En);
        assert!(!page.contains('\u{1b}') && !page.contains("NaN") && !page.contains("<script"), "{page}");
        let open = |line: &&str| line.starts_with("| ") && line.matches(" | ").count() != 6;
        let results = page.lines().skip_while(|line| !line.starts_with("| case")).take_while(|line| !line.is_empty());
        assert_eq!(results.filter(open).collect::<Vec<_>>(), [""; 0]);
    }
}
