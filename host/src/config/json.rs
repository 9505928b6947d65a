//! TOML values as JSON, for what a skill reads and for schemas. Dates become strings;
//! the order of keys is kept.

use serde_json::{Map, Number, Value};
use toml::de::DeValue;

use super::fault::Fault;
use super::reader::Entry;

impl Entry<'_> {
    /// The value as JSON; reports what JSON can not say.
    pub(super) fn json(&self) -> Option<Value> {
        Some(match self.value {
            DeValue::String(text) => Value::String(text.to_string()),
            DeValue::Boolean(value) => Value::Bool(*value),
            DeValue::Datetime(date) => Value::String(date.to_string()),
            DeValue::Integer(number) => {
                let number = i128::from_str_radix(number.as_str(), number.radix()).ok();
                match number.and_then(Number::from_i128) {
                    Some(number) => Value::Number(number),
                    None => return self.not_json("the integer does not fit into 64 bits"),
                }
            }
            DeValue::Float(number) => {
                let number = number.as_str().parse::<f64>().ok();
                match number.and_then(Number::from_f64) {
                    Some(number) => Value::Number(number),
                    None => return self.not_json("JSON has no infinite numbers and no `nan`"),
                }
            }
            DeValue::Array(items) => {
                let items = items.iter().filter_map(|item| self.item(item).json());
                Value::Array(items.collect())
            }
            DeValue::Table(_) => Value::Object(self.json_object()?),
        })
    }

    /// The value, which must be a table, as a JSON object.
    pub(super) fn json_object(&self) -> Option<Map<String, Value>> {
        let table = self.table()?;
        let entries = table.entries();
        let values = entries.filter_map(|entry| Some((entry.name.to_owned(), entry.json()?)));
        Some(values.collect())
    }

    fn not_json(&self, why: &str) -> Option<Value> {
        self.report(
            Fault::error(format!("`{}` can not be written as JSON", self.key))
                .because(why)
                .help("leave the key out, or write the value as a string"),
        );
        None
    }
}
