//! `stend compare RUN --published TABLE`: a run beside numbers that others published.

use crate::out::Out;
use clap::ArgMatches;
use stend_base::{Error, Result, say};

/// Prints a run beside a table, or writes it as HTML.
pub fn compare(arguments: &ArgMatches, table: &str, out: &Out) -> Result<()> {
    let names = super::many(arguments, "RUN");
    let [name] = names.as_slice() else {
        let given = names.len();
        return Err(Error::usage(say!(
            "`--published` takes one run, {given} given",
            "с `--published` указывают один прогон, указано: {given}"
        ))
        .hint(say!("compare them with the table one by one", "сравните их с таблицей по одному")));
    };
    super::is_page(arguments)?;
    let output = super::output(arguments, "output", say!("the comparison", "сравнение"));
    output.iter().try_for_each(|output| output.check().map(drop))?;
    let (audit, published) = super::audit::read(table, &[])?;
    let run = super::read(name, out)?;
    let findings = stend_analyse::judge(&run)?;
    let layout = arguments.get_one::<String>("layout").map(String::as_str);
    let comparison =
        stend_analyse::compare_with_published((&run, &findings), &published, &|claim| audit.doubting(claim), layout)?;
    let html = || stend_report::published_html(&comparison, out.lang);
    if super::to_standard_output(arguments, "output") {
        return out.result(&html());
    }
    if let Some(output) = output {
        output.save(|to| to.write_all(html().as_bytes()))?;
        out.note(&output.path().display().to_string());
    }
    out.result(&match out.json {
        true => stend_report::published_json(&comparison),
        false => stend_report::published_text(&comparison, out.lang, out.width(), out.colour()),
    })
}
