//! Values that a person may choose from while typing an argument.

use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompletionInfo, Reference};

use super::Offers;
use super::arguments::{choices, property};

impl Offers {
    /// The values that go on with what was typed, as many as the protocol allows.
    ///
    /// # Errors
    ///
    /// What is completed is not offered, or has no such argument.
    pub fn complete(&self, request: &CompleteRequestParams) -> Result<CompletionInfo, ErrorData> {
        let name = request.argument.name.as_str();
        let snapshot = &self.listing.snapshot;
        let all = match &request.r#ref {
            Reference::Prompt(prompt) => self.prompts.choices(&prompt.name, name, snapshot)?,
            Reference::Resource(resource) => {
                let Some(answer) = self.resources.template(&resource.uri) else {
                    let text = "there is no resource template of that address";
                    return Err(ErrorData::invalid_params(text, None));
                };
                if !answer.uri.names().any(|known| known == name) {
                    let text = format!("`{}` has no place of that name", answer.uri);
                    return Err(ErrorData::invalid_params(text, None));
                }
                let tool = snapshot.tool(&answer.tool);
                tool.and_then(|tool| property(&tool.spec().input_schema, name))
                    .map(choices)
                    .unwrap_or_default()
            }
            _ => Vec::new(),
        };
        let typed = request.argument.value.to_lowercase();
        let mut values: Vec<String> = all
            .into_iter()
            .filter(|value| value.to_lowercase().starts_with(&typed))
            .collect();
        let total = values.len();
        values.truncate(CompletionInfo::MAX_VALUES);
        let mut info = CompletionInfo::default();
        info.has_more = Some(total > values.len());
        info.total = u32::try_from(total).ok();
        info.values = values;
        Ok(info)
    }
}
