//! Where the document of a case lies in a folder of results. Pure.

use super::options;
use stend_analyse::as_fio::GroupAsFio;
use stend_spec::workload::Stream;

/// Longest name of a file, bytes: file systems allow 255.
const FILE_NAME_MAX: usize = 200;

/// Folders and name of the document of a group: `ARM/CASE/randread-32-1.json`. Cases that differ in nothing but queue depth and jobs share
/// a folder, as `bench-fio` lays them out and `fio-plot` reads them.
///
/// Names that differ only in what files are not called make the same place.
pub fn fio_json_place(group: &GroupAsFio) -> Vec<String> {
    let apart = |(axis, _): &&(String, String)| !["queue_depth", "jobs"].contains(&axis.as_str());
    let axes = group.axes.iter().filter(apart);
    let case = axes.fold(group.name.clone(), |name, (axis, value)| format!("{name}-{axis}-{value}"));
    let streams = |of: &dyn Fn(&Stream) -> String| group.asked.streams.iter().map(of).collect::<Vec<_>>().join("+");
    let file = [
        streams(&|stream| options::kinds(stream).to_string()),
        streams(&|stream| stream.queue_depth.to_string()),
        streams(&|stream| stream.jobs.to_string()),
    ];
    let folders = group.arm.iter().chain([&case]).map(|name| file_name(name));
    folders.chain([file_name(&file.join("-")) + ".json"]).collect()
}

/// A name that is a file's on every system, and no way out of its folder.
fn file_name(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "-+_.=".contains(c) { c } else { '_' };
    let mut text: String = name.chars().map(plain).collect();
    while text.len() > FILE_NAME_MAX {
        text.pop();
    }
    match text.trim_start_matches('.') {
        "" => "_".to_string(),
        rest => rest.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leads_out_of_the_folder() {
        assert_eq!(
            ["../../etc", "a/b", "", "..", "чтение, 4 KiB"].map(file_name),
            ["_.._etc", "a_b", "_", "_", "чтение__4_KiB"]
        );
        assert!(file_name(&"ж".repeat(500)).len() <= FILE_NAME_MAX);
    }
}
