//! `stend import` over a server: a file of results of this machine becomes a run there.

use crate::out::Out;
use crate::remote::Remote;
use clap::ArgMatches;
use serde::Deserialize;
use std::path::Path;
use stend_base::{Error, Result, say};
use stend_client::escaped;
use stend_interop::RESULTS_MAX;

/// What the server says of the run that it has made.
#[derive(Deserialize)]
struct Made {
    run: String,
}

/// Sends the file, and prints what was found in the run.
pub(super) fn import(remote: &Remote, arguments: &ArgMatches, out: &Out) -> Result<()> {
    super::refuse(remote, arguments, &["suite", "lenient", "output"])?;
    let names = super::super::many(arguments, "FILE");
    let [file] = names.as_slice() else {
        let message =
            say!("a server takes one file of results at a time", "сервер принимает по одному файлу результатов");
        return Err(Error::usage(message).hint(say!("send them one by one", "отправьте их по одному")));
    };
    let most = RESULTS_MAX as u64;
    let bytes = stend_sys::regular::bytes(file, most).map_err(|why| super::super::unreadable(file, &why))?;
    let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let target = format!("/api/v1/imports?name={}", escaped(&name));
    let reply = remote.server.send("POST", &target, bytes)?;
    let Made { run } = super::read(remote, &target, &reply.body)?;
    if out.json {
        return out.result(&String::from_utf8_lossy(&reply.body));
    }
    let url = remote.server.url();
    out.note(say!("run       {run} on {url}", "прогон        {run} на {url}").get(out.lang));
    let found = remote.read(&run)?;
    super::super::show::print(&found, &stend_analyse::judge(&found)?, None, None, out)
}
