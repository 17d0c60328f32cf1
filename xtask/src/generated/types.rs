//! From types that serialise themselves to JSON Schema: reads the source, follows `serde`'s attributes, and
//! takes doc comments as descriptions. What it does not understand is an error, never a guess.

use crate::scan;
use crate::tree::Source;
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use syn::punctuated::Punctuated;
use syn::{Attribute, Field, Fields, GenericArgument, Ident, Item, PathArguments, Stmt, Token, Type, Variant};

/// Every type of the files that serialise something, by name, with the file that it is in.
pub struct Types {
    items: BTreeMap<String, Vec<(String, Item)>>,
    /// What each file imports, written out in full.
    imports: BTreeMap<String, Vec<String>>,
}

/// A schema in the making: definitions that were needed so far.
struct Job<'a> {
    types: &'a Types,
    /// By name, with the file that the type is in.
    definitions: RefCell<BTreeMap<String, (String, Value)>>,
}

impl Types {
    /// Reads all production sources of the crates.
    pub fn of(sources: &[Source]) -> Result<Types, String> {
        let mut items: BTreeMap<String, Vec<(String, Item)>> = BTreeMap::new();
        let mut imports = BTreeMap::new();
        let code = sources.iter().filter(|s| s.path.starts_with("crates/") && !s.production.trim().is_empty());
        for source in code {
            let paths = scan::imports(&source.production).into_iter().map(|(_, path)| path);
            imports.insert(source.path.clone(), paths.collect());
            // Nothing else becomes JSON, and parsing is what takes long.
            if !source.text.contains("Serialize") {
                continue;
            }
            let file = syn::parse_file(&source.text).map_err(|error| format!("{}: {error}", source.path))?;
            for item in file.items.into_iter().flat_map(with_local) {
                let name = match &item {
                    Item::Struct(item) => item.ident.to_string(),
                    Item::Enum(item) => item.ident.to_string(),
                    _ => continue,
                };
                items.entry(name).or_default().push((source.path.clone(), item));
            }
        }
        Ok(Types { items, imports })
    }

    /// The schema of the type `name` of the file `path`, with everything below it as definitions.
    pub fn schema(&self, path: &str, name: &str) -> Result<Value, String> {
        let job = Job { types: self, definitions: RefCell::default() };
        let (path, item) = self.find(name, path)?;
        let mut schema = job.item(path, item)?;
        let definitions = job.definitions.into_inner();
        schema["$defs"] = definitions.into_iter().map(|(name, (_, schema))| (name, schema)).collect();
        Ok(schema)
    }

    /// The type that `name` means in a file: one of the same file, else of the crate that is imported, else
    /// of the same crate, else the only one.
    fn find(&self, name: &str, from: &str) -> Result<(&str, &Item), String> {
        let all = self.items.get(name).map(Vec::as_slice).unwrap_or_default();
        let within = |scope: &str| all.iter().filter(|(path, _)| path.starts_with(scope)).collect::<Vec<_>>();
        let of_crate = from.split_inclusive('/').take(2).collect::<String>();
        let imported = self.imports.get(from).into_iter().flatten();
        let imported = imported.filter_map(|path| path.strip_prefix("stend_")?.strip_suffix(&format!("::{name}")));
        let imported = imported.map(|path| format!("crates/{}/", path.split("::").next().unwrap_or_default())).next();
        let imported = imported.map(|scope| within(&scope)).unwrap_or_default();
        let candidates = [within(from), imported, within(&of_crate), within("")];
        match candidates.iter().find(|found| !found.is_empty()).map(Vec::as_slice) {
            Some([(path, item)]) => Ok((path, item)),
            Some(_) => Err(format!("{from}: there is more than one type `{name}`")),
            None => Err(format!("{from}: nothing says how `{name}` becomes JSON")),
        }
    }
}

/// An item, or the items that stand inside a function.
fn with_local(item: Item) -> Vec<Item> {
    let Item::Fn(function) = item else { return vec![item] };
    let local = |statement| if let Stmt::Item(item) = statement { Some(item) } else { None };
    function.block.stmts.into_iter().filter_map(local).collect()
}

impl Job<'_> {
    fn item(&self, path: &str, item: &Item) -> Result<Value, String> {
        let (attributes, mut schema) = match item {
            Item::Struct(item) => (&item.attrs, self.structure(path, &item.attrs, &item.fields)?),
            Item::Enum(item) => {
                let serde = Serde::of(path, &item.attrs)?;
                let variants = item.variants.iter().map(|variant| self.variant(path, &serde, variant));
                (&item.attrs, json!({"oneOf": variants.collect::<Result<Vec<_>, _>>()?}))
            }
            _ => return Err(format!("{path}: neither a struct nor an enum")),
        };
        describe(&mut schema, attributes);
        Ok(schema)
    }

    fn structure(&self, path: &str, attributes: &[Attribute], fields: &Fields) -> Result<Value, String> {
        Serde::of(path, attributes)?;
        match fields {
            Fields::Named(fields) => self.object(path, &fields.named),
            Fields::Unnamed(fields) => self.unnamed(path, &fields.unnamed),
            Fields::Unit => Ok(json!({"type": "null"})),
        }
    }

    /// One field is written as itself, several as a list.
    fn unnamed(&self, path: &str, fields: &Punctuated<Field, Token![,]>) -> Result<Value, String> {
        let mut items = fields.iter().map(|field| self.value(path, &field.ty)).collect::<Result<Vec<_>, _>>()?;
        Ok(if items.len() == 1 { items.remove(0) } else { list_of(items) })
    }

    fn object(&self, path: &str, fields: &Punctuated<Field, Token![,]>) -> Result<Value, String> {
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for field in fields {
            let serde = Serde::of(path, &field.attrs)?;
            let Some(ident) = field.ident.as_ref().filter(|_| !serde.skip) else { continue };
            let name = serde.rename.clone().unwrap_or_else(|| plain(ident));
            let mut schema = self.value(path, &field.ty)?;
            describe(&mut schema, &field.attrs);
            properties.insert(name.clone(), schema);
            if !serde.sometimes {
                required.push(name);
            }
        }
        Ok(json!({"type": "object", "properties": properties, "required": required}))
    }

    /// As serde tags it: a name, or an object with one key.
    fn variant(&self, path: &str, container: &Serde, variant: &Variant) -> Result<Value, String> {
        let serde = Serde::of(path, &variant.attrs)?;
        let plain = plain(&variant.ident);
        let name = serde.rename.unwrap_or_else(|| container.case.apply(&plain));
        let inner = match &variant.fields {
            Fields::Unit => None,
            Fields::Named(fields) => Some(self.object(path, &fields.named)?),
            Fields::Unnamed(fields) => Some(self.unnamed(path, &fields.unnamed)?),
        };
        let mut schema = match (&container.tag, inner) {
            (None, None) => json!({"const": name}),
            (None, Some(inner)) => json!({"type": "object", "properties": {&name: inner}, "required": [name]}),
            (Some(tag), inner) => {
                let mut object = inner.unwrap_or_else(|| json!({"type": "object", "properties": {}, "required": []}));
                if object["type"] != "object" {
                    return Err(format!("{path}: the tagged variant `{plain}` has no named fields"));
                }
                object["properties"][tag] = json!({"const": name});
                if let Some(required) = object["required"].as_array_mut() {
                    required.insert(0, json!(tag));
                }
                object
            }
        };
        describe(&mut schema, &variant.attrs);
        Ok(schema)
    }

    fn value(&self, path: &str, ty: &Type) -> Result<Value, String> {
        match ty {
            Type::Reference(inner) => self.value(path, &inner.elem),
            Type::Slice(inner) => Ok(json!({"type": "array", "items": self.value(path, &inner.elem)?})),
            Type::Array(inner) => Ok(json!({"type": "array", "items": self.value(path, &inner.elem)?})),
            Type::Tuple(tuple) if tuple.elems.is_empty() => Ok(json!({"type": "null"})),
            Type::Tuple(tuple) => {
                let items = tuple.elems.iter().map(|item| self.value(path, item)).collect::<Result<Vec<_>, _>>()?;
                Ok(list_of(items))
            }
            Type::Path(named) => {
                let last = named.path.segments.last().ok_or_else(|| format!("{path}: a type without a name"))?;
                let arguments = match &last.arguments {
                    PathArguments::AngleBracketed(arguments) => arguments.args.iter().collect(),
                    _ => Vec::new(),
                };
                let types: Vec<&Type> = arguments
                    .into_iter()
                    .filter_map(|argument| match argument {
                        GenericArgument::Type(ty) => Some(ty),
                        _ => None,
                    })
                    .collect();
                let first = named.path.segments.first().map(|first| first.ident.to_string()).unwrap_or_default();
                match first.strip_prefix("stend_") {
                    Some(other) => self.reference(&format!("crates/{other}/"), &last.ident.to_string()),
                    None => self.named(path, &last.ident.to_string(), &types),
                }
            }
            _ => Err(format!("{path}: a type of a kind that has no JSON")),
        }
    }

    fn named(&self, path: &str, name: &str, arguments: &[&Type]) -> Result<Value, String> {
        match (name, arguments) {
            ("bool", _) => Ok(json!({"type": "boolean"})),
            ("u8" | "u16" | "u32" | "u64" | "u128" | "usize", _) => Ok(json!({"type": "integer", "minimum": 0})),
            ("i8" | "i16" | "i32" | "i64" | "i128" | "isize", _) => Ok(json!({"type": "integer"})),
            // What is not finite has no JSON.
            ("f32" | "f64", _) => Ok(json!({"type": ["number", "null"]})),
            ("String" | "str" | "char" | "PathBuf", _) => Ok(json!({"type": "string"})),
            // Written by hand: bytes for machines, pairs in JSON.
            ("Buckets", _) => {
                let whole = || json!({"type": "integer", "minimum": 0});
                Ok(json!({"type": "array", "items": list_of(vec![whole(), whole()])}))
            }
            ("Option", [inner]) => Ok(or_null(self.value(path, inner)?)),
            ("Vec", [inner]) => Ok(json!({"type": "array", "items": self.value(path, inner)?})),
            ("Box" | "Cow" | "Arc", [inner]) => self.value(path, inner),
            ("BTreeMap", [_, inner]) => Ok(json!({"type": "object", "additionalProperties": self.value(path, inner)?})),
            ("Result", [good, bad]) => {
                let side = |name: &str, ty| {
                    let schema = self.value(path, ty)?;
                    Ok::<_, String>(json!({"type": "object", "properties": {name: schema}, "required": [name]}))
                };
                Ok(json!({"oneOf": [side("Ok", good)?, side("Err", bad)?]}))
            }
            _ => self.reference(path, name),
        }
    }

    /// A type of ours: defined once, pointed to from wherever it stands.
    fn reference(&self, path: &str, name: &str) -> Result<Value, String> {
        let (home, item) = self.types.find(name, path)?;
        let known = self.definitions.borrow().get(name).map(|(home, _)| home.clone());
        match known {
            Some(other) if other != home => {
                return Err(format!("{path}: `{name}` of `{home}` and of `{other}` would share one definition"));
            }
            Some(_) => {}
            None => {
                let define =
                    |schema| self.definitions.borrow_mut().insert(name.to_string(), (home.to_string(), schema));
                // Before its inside is looked at, which may come back here.
                define(Value::Null);
                define(self.item(home, item)?);
            }
        }
        Ok(json!({"$ref": format!("#/$defs/{name}")}))
    }
}

fn list_of(items: Vec<Value>) -> Value {
    let count = items.len();
    json!({"type": "array", "prefixItems": items, "minItems": count, "maxItems": count})
}

fn or_null(schema: Value) -> Value {
    match schema["type"].as_str().map(String::from) {
        Some(name) => {
            let mut schema = schema;
            schema["type"] = json!([name, "null"]);
            schema
        }
        None if schema["type"].is_array() => schema,
        None => json!({"anyOf": [schema, {"type": "null"}]}),
    }
}

fn plain(ident: &Ident) -> String {
    ident.to_string().trim_start_matches("r#").to_string()
}

/// Doc comments as one paragraph.
fn describe(schema: &mut Value, attributes: &[Attribute]) {
    let docs = attributes.iter().filter(|attribute| attribute.path().is_ident("doc"));
    let lines = docs.filter_map(|attribute| match &attribute.meta.require_name_value().ok()?.value {
        syn::Expr::Lit(literal) => match &literal.lit {
            syn::Lit::Str(text) => Some(text.value().trim().to_string()),
            _ => None,
        },
        _ => None,
    });
    let text = lines.collect::<Vec<_>>().join(" ");
    if !text.is_empty() {
        schema["description"] = json!(text.trim());
    }
}

/// The spelling of variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Case {
    #[default]
    AsWritten,
    Snake,
    Lower,
}

impl Case {
    fn apply(self, name: &str) -> String {
        match self {
            Case::AsWritten => name.to_string(),
            Case::Lower => name.to_lowercase(),
            Case::Snake => {
                let apart = |(i, c): (usize, char)| if c.is_uppercase() && i > 0 { format!("_{c}") } else { c.into() };
                name.char_indices().map(apart).collect::<String>().to_lowercase()
            }
        }
    }
}

/// What `#[serde(…)]` says that matters here.
#[derive(Debug, Default)]
struct Serde {
    case: Case,
    rename: Option<String>,
    tag: Option<String>,
    skip: bool,
    sometimes: bool,
}

impl Serde {
    fn of(path: &str, attributes: &[Attribute]) -> Result<Serde, String> {
        let mut serde = Serde::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
            let parsed = attribute.parse_nested_meta(|meta| {
                let text = || Ok::<_, syn::Error>(meta.value()?.parse::<syn::LitStr>()?.value());
                match meta.path.get_ident().map(Ident::to_string).unwrap_or_default().as_str() {
                    "rename_all" => {
                        serde.case = match text()?.as_str() {
                            "snake_case" => Case::Snake,
                            "lowercase" => Case::Lower,
                            other => return Err(meta.error(format!("the spelling `{other}` is new"))),
                        }
                    }
                    "rename" => serde.rename = Some(text()?),
                    "tag" => serde.tag = Some(text()?),
                    "skip" => serde.skip = true,
                    "skip_serializing_if" => {
                        text()?;
                        serde.sometimes = true;
                    }
                    // Reading only, or without effect on the shape.
                    "transparent" | "deny_unknown_fields" => {}
                    "default" => {
                        if meta.input.peek(Token![=]) {
                            text()?;
                        }
                    }
                    other => return Err(meta.error(format!("the attribute `{other}` is new"))),
                }
                Ok(())
            });
            parsed.map_err(|error| format!("{path}: serde: {error}"))?;
        }
        Ok(serde)
    }
}

#[cfg(test)]
mod tests;
