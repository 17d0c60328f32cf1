//! A panel of a dashboard, and what several have in common. A quantity has one y axis; a device or an operation is a line.

use serde_json::{Value, json};
use stend_base::{Say, say};

/// How a panel looks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Lines,
    Number,
    States,
    Heatmap,
}

/// A panel.
pub struct Panel {
    pub title: Say,
    pub about: Say,
    pub kind: Kind,
    pub unit: &'static str,
    pub width: usize,
    /// Legend and query of each.
    pub queries: Vec<(Say, String)>,
}

impl Kind {
    /// As Grafana calls it.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Lines => "timeseries",
            Kind::Number => "stat",
            Kind::States => "state-timeline",
            Kind::Heatmap => "heatmap",
        }
    }
}

impl Panel {
    pub fn lines(title: Say, unit: &'static str, queries: Vec<(Say, String)>) -> Panel {
        Panel { title, about: Say::same(""), kind: Kind::Lines, unit, width: 12, queries }
    }

    pub fn number(title: Say, unit: &'static str, query: &str) -> Panel {
        let queries = vec![(Say::same(""), query.to_string())];
        Panel { kind: Kind::Number, width: 6, ..Panel::lines(title, unit, queries) }
    }

    pub fn about(self, about: Say) -> Panel {
        Panel { about, ..self }
    }

    pub fn defaults(&self) -> Value {
        let least = if matches!(self.unit, "celsius") { Value::Null } else { json!(0) };
        // A gap is a gap: nothing is drawn through it.
        json!({"unit": self.unit, "min": least, "custom": {"spanNulls": false, "lineWidth": 1, "fillOpacity": 0}})
    }

    pub fn options(&self) -> Value {
        match self.kind {
            Kind::Lines => {
                json!({"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}})
            }
            Kind::Number => json!({"reduceOptions": {"calcs": ["lastNotNull"]}, "colorMode": "none"}),
            Kind::States => json!({"showValue": "never", "mergeValues": true}),
            Kind::Heatmap => {
                json!({"calculate": false, "yAxis": {"unit": "s"}, "color": {"mode": "scheme", "scale": "exponential", "exponent": 0.5}})
            }
        }
    }
}

/// Time of I/Os over their number: nothing where there were none.
pub fn mean(time: &str, count: &str, rate: &dyn Fn(&str) -> String) -> String {
    format!("{} / ({} > 0)", rate(time), rate(count))
}

pub fn waits_included() -> Say {
    say!("Waiting in the queue of the kernel is included.", "Вместе с ожиданием в очереди ядра.")
}

pub fn can_do_more() -> Say {
    say!(
        "A drive that works on many I/Os at once can do more at 100 %.",
        "Накопитель, который обрабатывает много операций сразу, может больше и при 100 %."
    )
}

pub fn by_device() -> Say {
    Say::same("{{device}}")
}
