//! JSON Schemas of arguments and answers: draft 2020-12, subschemas inlined, a plain
//! object at the root. Only `describe` comes here, never a call.

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema, json_schema};
use serde_json::{Map, Value, json};

/// The schema of a tool's arguments. Unknown arguments are refused.
///
/// # Panics
///
/// When the type is not an object in JSON: its author has to change it.
pub fn arguments<T: JsonSchema>() -> Schema {
    let generator = plain(SchemaSettings::draft2020_12().for_deserialize());
    let mut schema = without_rust_name::<T>(generator.into_root_schema_for::<T>());
    assert!(
        shape(&schema) == Shape::Object,
        "the arguments of a tool must be a JSON object, and `{}` is not always one: {}",
        T::schema_name(),
        schema.as_value(),
    );
    let object = schema.ensure_object();
    let is_plain = !["oneOf", "anyOf", "allOf", "unevaluatedProperties"]
        .iter()
        .any(|keyword| object.contains_key(*keyword));
    let mut sorted = Map::new();
    sorted.insert("type".into(), json!("object"));
    sorted.insert(
        "properties".into(),
        object.remove("properties").unwrap_or_else(|| json!({})),
    );
    if let Some(required) = object.remove("required") {
        sorted.insert("required".into(), required);
    }
    if is_plain {
        let refused = object
            .remove("additionalProperties")
            .unwrap_or(json!(false));
        sorted.insert("additionalProperties".into(), refused);
    }
    for (keyword, value) in std::mem::take(object) {
        sorted.entry(keyword).or_insert(value);
    }
    Schema::from(sorted)
}

/// The schema of a structured answer; what is no object is put into `result`.
pub fn answer<T: JsonSchema>() -> Schema {
    let schema = plain(SchemaSettings::draft2020_12().for_serialize()).into_root_schema_for::<T>();
    match shape(&schema) {
        Shape::Object => without_rust_name::<T>(schema),
        Shape::Other => wrapped_answer::<T>(),
        // Whether a value is put into `result` then depends on the value.
        Shape::Mixed => nested::<T>(|schema| {
            let inner = wrapped(&schema);
            json_schema!({ "type": "object", "anyOf": [schema, inner] })
        }),
    }
}

/// The schema of an answer that is always put into `result`.
pub fn wrapped_answer<T: JsonSchema>() -> Schema {
    nested::<T>(|schema| wrapped(&schema))
}

fn wrapped(schema: &Schema) -> Schema {
    json_schema!({
        "type": "object",
        "properties": { "result": schema },
        "required": ["result"],
        "additionalProperties": false,
    })
}

/// A schema around that of `T`. Made from a subschema, since one made for the root may
/// refer to itself as `#`.
fn nested<T: JsonSchema>(around: impl FnOnce(Schema) -> Schema) -> Schema {
    let mut generator = plain(SchemaSettings::draft2020_12().for_serialize());
    let inner = generator.subschema_for::<T>();
    let mut schema = around(inner);
    let definitions = generator.take_definitions(false);
    if !definitions.is_empty() {
        schema.insert("$defs".into(), Value::Object(definitions));
    }
    RecursiveTransform(drop_noise).transform(&mut schema);
    schema
}

fn plain(settings: SchemaSettings) -> SchemaGenerator {
    settings
        .with(|settings| {
            settings.meta_schema = None;
            settings.inline_subschemas = true;
        })
        .with_transform(RecursiveTransform(drop_noise))
        .into_generator()
}

/// The generator titles the root with the Rust name, which tells an agent nothing.
fn without_rust_name<T: JsonSchema>(mut schema: Schema) -> Schema {
    if schema.get("title").and_then(Value::as_str) == Some(&T::schema_name()) {
        schema.remove("title");
    }
    schema
}

/// Takes out what tells a reader nothing: `uint32` and the like are no formats of JSON
/// Schema, and some model vendors refuse them; a default of `null` is absence.
fn drop_noise(schema: &mut Schema) {
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
    let is_numeric = schema
        .get("format")
        .and_then(Value::as_str)
        .is_some_and(|format| {
            format == "float"
                || format == "double"
                || format.trim_start_matches('u').starts_with("int")
        });
    if is_numeric {
        schema.remove("format");
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Object,
    Other,
    Mixed,
}

/// What the values of a schema are.
fn shape(schema: &Schema) -> Shape {
    schema
        .as_object()
        .map_or(Shape::Mixed, |object| shape_of(object, object, 0))
}

fn shape_of(schema: &Map<String, Value>, root: &Map<String, Value>, depth: usize) -> Shape {
    match schema.get("type") {
        Some(Value::String(name)) if name == "object" => return Shape::Object,
        Some(Value::String(_)) => return Shape::Other,
        Some(Value::Array(names)) => {
            return if names.iter().any(|name| name == "object") {
                Shape::Mixed
            } else {
                Shape::Other
            };
        }
        _ => {}
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return all(values.iter().map(shape_of_value));
    }
    if let Some(value) = schema.get("const") {
        return shape_of_value(value);
    }
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        let target = target
            .strip_prefix("#/$defs/")
            .and_then(|name| root.get("$defs")?.get(name));
        return match target.and_then(Value::as_object) {
            // A type that refers to itself at once is no type; the bound is for safety.
            Some(target) if depth < 16 => shape_of(target, root, depth + 1),
            _ => Shape::Mixed,
        };
    }
    match schema
        .get("oneOf")
        .or_else(|| schema.get("anyOf"))
        .and_then(Value::as_array)
    {
        Some(variants) => all(variants.iter().map(|variant| {
            variant
                .as_object()
                .map_or(Shape::Mixed, |variant| shape_of(variant, root, depth))
        })),
        None => Shape::Mixed,
    }
}

fn shape_of_value(value: &Value) -> Shape {
    if value.is_object() {
        Shape::Object
    } else {
        Shape::Other
    }
}

fn all(mut shapes: impl Iterator<Item = Shape>) -> Shape {
    let first = shapes.next().unwrap_or(Shape::Mixed);
    if shapes.all(|shape| shape == first) {
        first
    } else {
        Shape::Mixed
    }
}
