//! `stend serve backup` and `stend serve restore`: what was saved or made, in words.

use crate::out::Out;
use clap::ArgMatches;
use std::path::Path;
use stend_base::{Result, say};
use stend_record::store;
use stend_serve::backup::{self, Contents};

/// Saves the server of this machine.
pub fn save(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let (file, with_runs) = (super::required(arguments, "FILE"), arguments.get_flag("runs"));
    let contents = backup::save(&store::directory()?, with_runs, Path::new(file), env!("CARGO_PKG_VERSION"))?;
    let Contents { tasks, runs, left_out } = contents;
    let told = say!(
        "Saved: {file}\ntasks that have begun: {tasks}, run files: {runs}, left out because they go on: {left_out}\nIt holds hashes of tokens, the key of the server's own certificate and the texts of orders, so only its owner can read it.",
        "Сохранено: {file}\nначатых задач: {tasks}, файлов прогонов: {runs}, пропущено идущих: {left_out}\nВ файле хеши токенов, ключ собственного сертификата сервера и тексты заказов, поэтому его читает только владелец."
    );
    print(out, file, contents, told.get(out.lang))
}

/// Makes a server of what was saved.
pub fn restore(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let file = super::required(arguments, "FILE");
    let contents = backup::restore(&store::directory()?, Path::new(file))?;
    let Contents { tasks, runs, .. } = contents;
    let told = say!(
        "Restored from {file}\ntasks that had begun: {tasks}, run files: {runs}\nThe tokens of the saved server are valid. Tasks that waited then do not begin. Start it: `stend serve`",
        "Восстановлено из {file}\nначатых задач: {tasks}, файлов прогонов: {runs}\nДействуют токены сохранённого сервера. Задачи, которые тогда ждали, не начнутся. Запуск: `stend serve`"
    );
    print(out, file, contents, told.get(out.lang))
}

fn print(out: &Out, file: &str, contents: Contents, told: &str) -> Result<()> {
    let Contents { tasks, runs, left_out } = contents;
    out.result(&match out.json {
        true => serde_json::json!({ "file": file, "tasks": tasks, "runs": runs, "left_out": left_out }).to_string(),
        false => told.to_string(),
    })
}
