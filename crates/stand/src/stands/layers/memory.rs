//! Layers that need no drives: files and compressed memory as block devices.

use super::super::product::Product;
use super::{Made, StepContext, directory};
use crate::change::{Action, Change, Condition, run};
use stend_base::say;
use stend_spec::stand::{LoopFiles, Zram};

pub(super) fn loops(context: &StepContext, files: &LoopFiles) -> Made {
    let local = format!("{}/{}", files.directory.trim_end_matches('/'), context.name());
    let mut made = Made { steps: vec![directory(&local)], products: Vec::new() };
    let size = files.size.0.to_string();
    for number in 1..=files.count {
        let file = format!("{local}/{number}");
        let product = Product::Loop(file.clone());
        let path = (context.path)(&product);
        made.steps.push(Change {
            what: say!("make the file {file} of {size} bytes", "создать файл {file}, байт: {size}"),
            erases: Vec::new(),
            done: Condition::File { path: file.clone(), size: files.size.0 },
            apply: vec![run("fallocate --length", &[size.as_str(), file.as_str()])],
            undo: vec![(Condition::Path(file.clone()), run("rm --", &[file.as_str()]))],
            wait: None,
        });
        made.steps.push(Change {
            what: say!("put a loop device over {file}", "создать loop-устройство над {file}"),
            erases: Vec::new(),
            done: Condition::Loop(file.clone()),
            // Past the page cache of the file: or every write would be answered from memory.
            apply: vec![run("losetup --find --partscan --direct-io=on", &[file.as_str()])],
            undo: vec![(Condition::Loop(file.clone()), run("losetup --detach", &[path.as_str()]))],
            wait: None,
        });
        made.products.push(product);
    }
    made
}

pub(super) fn zrams(context: &StepContext, zram: &Zram) -> Made {
    let mut made = Made::default();
    let layer = &context.layer.name;
    for index in 0..zram.count {
        let product = Product::Zram { layer: layer.clone(), index };
        let path = (context.path)(&product);
        let sysfs = format!("/sys/block/{}", path.trim_start_matches("/dev/"));
        let number = path.strip_prefix("/dev/zram").unwrap_or("NUMBER").to_string();
        let there = |size| Condition::Zram { layer: layer.clone(), index, size };
        let tell = |path: String, value: &str| Action::Tell { path, value: value.to_string() };
        made.steps.push(Change {
            what: say!("add a zram device", "добавить устройство zram"),
            erases: Vec::new(),
            done: there(None),
            apply: vec![Action::Module("zram".into()), Action::AddZram { layer: layer.clone(), index }],
            undo: vec![(there(None), Action::RemoveZram { layer: layer.clone(), index, number })],
            wait: None,
        });
        let size = zram.size.0;
        made.steps.push(Change {
            what: say!("give {path} a size of {size} bytes", "задать размер {path}, байт: {size}"),
            erases: Vec::new(),
            done: there(Some(size)),
            apply: vec![tell(format!("{sysfs}/disksize"), &size.to_string())],
            undo: vec![(there(Some(size)), tell(format!("{sysfs}/reset"), "1"))],
            wait: None,
        });
        made.products.push(product);
    }
    made
}
