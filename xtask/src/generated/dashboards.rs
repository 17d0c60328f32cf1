//! Dashboards of Grafana, in both languages, from one table of panels. In the classic form, which Grafana 10 to 13 load.

mod boards;
mod drive;
mod host;
mod panels;
mod run;

use super::File;
use boards::{BOARDS, Board};
use panels::{Kind, Panel};
use serde_json::{Value, json};
use stend_base::Lang;

/// Width of the grid, and height of a panel in its rows.
const GRID: usize = 24;
const HEIGHT: usize = 8;
/// Classic form of Grafana 10.
const SCHEMA_VERSION: u32 = 38;

/// One file for each dashboard and language.
pub fn files() -> Vec<File> {
    let of = |lang: Lang| BOARDS.iter().map(move |board| file(board, lang));
    [Lang::En, Lang::Ru].into_iter().flat_map(of).collect()
}

fn file(board: &Board, lang: Lang) -> File {
    let folder = if lang == Lang::Ru { "ru" } else { "en" };
    let text = format!("{:#}\n", dashboard(board, lang));
    File { path: format!("monitoring/grafana/{folder}/{}.json", board.name), text }
}

fn dashboard(board: &Board, lang: Lang) -> Value {
    let mut variables = vec![json!({
        "name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus", "hide": 0,
    })];
    variables.extend(board.variables.iter().map(|(name, query)| {
        json!({
            "name": name, "type": "query", "datasource": datasource(), "definition": query, "refresh": 2, "sort": 1,
            "query": {"query": query, "refId": name},
        })
    }));
    let mut place = (0, 0);
    let panels: Vec<Value> =
        (board.panels)().iter().enumerate().map(|(at, shown)| panel(at, shown, &mut place, lang)).collect();
    let (name, color) = ((board.marked)(), "#D55E00");
    json!({
        "uid": format!("stend-{}", board.name),
        "title": (board.title)().get(lang),
        "description": (board.about)().get(lang),
        "tags": ["stend"],
        "schemaVersion": SCHEMA_VERSION,
        "editable": true,
        "graphTooltip": 1,
        "refresh": board.refresh,
        "time": {"from": board.from, "to": "now"},
        "templating": {"list": variables},
        "annotations": {"list": [{
            "name": name.get(lang), "datasource": datasource(), "enable": true, "iconColor": color, "expr": board.mark,
            "titleFormat": board.mark_title, "step": "30s",
        }]},
        "panels": panels,
    })
}

fn datasource() -> Value {
    json!({"type": "prometheus", "uid": "${datasource}"})
}

/// From left to right, and on to the next row where one is full.
fn panel(at: usize, shown: &Panel, (x, y): &mut (usize, usize), lang: Lang) -> Value {
    if *x + shown.width > GRID {
        (*x, *y) = (0, *y + HEIGHT);
    }
    let place = json!({"x": *x, "y": *y, "w": shown.width, "h": HEIGHT});
    *x += shown.width;
    let targets: Vec<Value> = shown
        .queries
        .iter()
        .zip(b'A'..)
        .map(|((legend, query), id)| {
            json!({
                "refId": char::from(id).to_string(), "datasource": datasource(), "expr": query, "legendFormat": legend.get(lang),
                "format": if shown.kind == Kind::Heatmap { "heatmap" } else { "time_series" },
            })
        })
        .collect();
    json!({
        "id": at + 1,
        "type": shown.kind.word(),
        "title": shown.title.get(lang),
        "description": shown.about.get(lang),
        "datasource": datasource(),
        "gridPos": place,
        "fieldConfig": {"defaults": shown.defaults(), "overrides": []},
        "options": shown.options(),
        "targets": targets,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn both_languages_have_the_same_queries_and_other_words() {
        let (en, ru): (Vec<File>, Vec<File>) = files().into_iter().partition(|file| file.path.contains("/en/"));
        assert_eq!((en.len(), ru.len()), (BOARDS.len(), BOARDS.len()));
        for (en, ru) in en.iter().zip(&ru) {
            let [en, ru]: [Value; 2] = [en, ru].map(|file| serde_json::from_str(&file.text).unwrap());
            let queries = |board: &Value| -> Vec<Value> {
                board["panels"].as_array().unwrap().iter().map(|panel| panel["targets"][0]["expr"].clone()).collect()
            };
            assert_eq!(queries(&en), queries(&ru));
            for (one, other) in en["panels"].as_array().unwrap().iter().zip(ru["panels"].as_array().unwrap()) {
                assert_ne!(one["title"], other["title"]);
            }
        }
    }

    #[test]
    fn panels_do_not_overlap_and_have_units() {
        for file in files() {
            let board: Value = serde_json::from_str(&file.text).unwrap();
            let mut cells = BTreeSet::new();
            for panel in board["panels"].as_array().unwrap() {
                let at = |key: &str| panel["gridPos"][key].as_u64().unwrap();
                assert!(at("x") + at("w") <= GRID as u64, "{}", file.path);
                for (x, y) in
                    (at("x")..at("x") + at("w")).flat_map(|x| (at("y")..at("y") + at("h")).map(move |y| (x, y)))
                {
                    assert!(cells.insert((x, y)), "{} {}", file.path, panel["title"]);
                }
                assert!(panel["fieldConfig"]["defaults"]["unit"].is_string(), "{}", panel["title"]);
            }
        }
    }
}
