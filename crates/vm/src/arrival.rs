//! The XML of a machine as the libvirt gets it that it migrates to: the same but for paths of this host. Pure.
//= libvirt, formatdomain: "channel", "serial"; virsh(1), migrate: `--xml`

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, Writer};

/// `text` with the port of the worker at `port`, and with a console that is written on behind what is there. `None`: it is no domain with such
/// a port.
pub(crate) fn xml(text: &str, port: &str) -> Option<String> {
    let (mut reader, mut writer) = (Reader::from_str(text), Writer::new(Vec::new()));
    // What is inside of a channel waits until its name is known.
    let mut channel: Option<Vec<Event>> = None;
    let (mut console, mut found) = (false, false);
    loop {
        let event = reader.read_event().ok()?;
        let (opens, name) = match &event {
            Event::Eof => break,
            Event::Start(element) => (true, element.local_name().as_ref().to_string()),
            Event::Empty(element) => (false, element.local_name().as_ref().to_string()),
            Event::End(element) => (false, element.local_name().as_ref().to_string()),
            _ => (false, String::new()),
        };
        let ends = matches!(event, Event::End(_));
        if name == "channel" && opens {
            channel = Some(Vec::new());
        }
        if matches!(name.as_str(), "serial" | "console") && (opens || ends) {
            console = opens;
        }
        let event = match event {
            Event::Empty(element) if console && name == "source" => Event::Empty(appending(&element)?),
            other => other,
        };
        match &mut channel {
            Some(inside) => inside.push(event.into_owned()),
            None => writer.write_event(event).ok()?,
        }
        if name == "channel" && ends {
            let inside = channel.take().unwrap_or_default();
            let ours = inside.iter().any(is_of_worker);
            found |= ours;
            let is_source =
                |event: &Event| matches!(event, Event::Empty(element) if element.local_name().as_ref() == "source");
            for event in inside.into_iter().filter(|event| !ours || !is_source(event)) {
                if is_of_worker(&event) {
                    let source = BytesStart::new("source").with_attributes([("mode", "bind"), ("path", port)]);
                    writer.write_event(Event::Empty(source)).ok()?;
                }
                writer.write_event(event).ok()?;
            }
        }
    }
    let text = String::from_utf8(writer.into_inner()).ok()?;
    found.then_some(text)
}

/// The name of the channel that the worker is behind.
fn is_of_worker(event: &Event) -> bool {
    let (Event::Empty(element) | Event::Start(element)) = event else { return false };
    let name = element.try_get_attribute("name").ok().flatten();
    element.local_name().as_ref() == "target" && name.is_some_and(|name| &*name.value == stend_lab::WORKER)
}

/// A source whose file keeps what is in it.
fn appending(element: &BytesStart) -> Option<BytesStart<'static>> {
    let mut kept = BytesStart::new("source");
    for attribute in element.attributes() {
        let attribute = attribute.ok()?;
        if attribute.key.as_ref() != "append" {
            kept.push_attribute(attribute);
        }
    }
    kept.push_attribute(("append", "on"));
    Some(kept.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_of_the_worker_and_the_console_are_those_of_where_it_goes_and_all_else_stays() {
        let text = "<domain type='qemu' id='2'>\n  <metadata><a:b xmlns:a=\"u&amp;v\"/></metadata>\n  <serial type='file'>\n    <source path='/c&amp;d'/>\n  </serial>\n  \
                    <channel type='unix'>\n    <source mode='bind' path='/old'/>\n    <target type='virtio' name='stend.worker' state='connected'/>\n  </channel>\n  \
                    <channel type='unix'>\n    <target type='virtio' name='stend.command'/>\n  </channel>\n  <disk><source file='/d'/></disk>\n</domain>\n";
        let expected = text.replace("<source path='/c&amp;d'/>", "<source path='/c&amp;d' append=\"on\"/>").replace(
            "<source mode='bind' path='/old'/>\n    <target",
            "\n    <source mode=\"bind\" path=\"/new\"/><target",
        );
        let flat = |text: &str| text.split_whitespace().collect::<String>().replace('\'', "\"");
        let made = xml(text, "/new").unwrap();
        assert_eq!(flat(&made), flat(&expected));
        // A port that libvirt has named itself is not in what it hands on, and a second way begins with the first.
        let unnamed = text.replace("<source mode='bind' path='/old'/>", "");
        assert_eq!(flat(&xml(&unnamed, "/new").unwrap()), flat(&expected));
        assert_eq!(flat(&xml(&made, "/new").unwrap()), flat(&expected));
        for none in ["", "<domain", "<domain/>", &text.replace("stend.worker", "other")] {
            assert_eq!(xml(none, "/new"), None, "{none}");
        }
    }
}
