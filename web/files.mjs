// Writes the list of built files that the server embeds, in Rust. Their names hold hashes, so the list changes with them.
import { readdirSync, writeFileSync } from "node:fs";

const crate = new URL("../crates/serve/", import.meta.url);
const media = { js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8" };
const names = readdirSync(new URL("assets/console/assets/", crate)).sort();
const rows = names.map((name) => {
  const type = media[name.split(".").pop()];
  if (!type) throw new Error(`no media type for ${name}`);
  return `    (\n        "/assets/${name}",\n        "${type}",\n        include_str!("../../assets/console/assets/${name}"),\n    ),\n`;
});
const text = `//! The built files of the console, by address. Written by \`make web\`; must not be edited.

/// Address, media type and content. A name changes with what is in it.
pub const FILES: &[(&str, &str, &str)] = &[
${rows.join("")}];
`;
writeFileSync(new URL("src/console/files.rs", crate), text);
