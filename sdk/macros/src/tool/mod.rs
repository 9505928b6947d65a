//! `#[tool]`: from a function with documented parameters to a describable, callable tool.
//! The function itself stays as it was, without the attributes of this crate.

mod documentation;
mod expansion;
mod options;
mod parameters;

use proc_macro2::{Span, TokenStream};
use syn::{Error, Ident, ItemFn, Result, ReturnType, Type};

use options::Options;
use parameters::Arguments;

/// The longest description that a host accepts, in characters.
const MAX_DESCRIPTION: usize = 1024;

/// A function, understood.
struct Tool {
    function: ItemFn,
    name: String,
    description: String,
    options: Options,
    arguments: Arguments,
    returns: Type,
}

pub fn expand(options: TokenStream, function: TokenStream) -> TokenStream {
    let mut function: ItemFn = match syn::parse2(function) {
        Ok(function) => function,
        Err(error) => {
            return Error::new(error.span(), format!("`#[tool]` is for functions: {error}"))
                .into_compile_error();
        }
    };
    match understand(options, &mut function) {
        Ok(tool) => expansion::tool(&tool),
        Err(error) => expansion::faulty(&function, &error),
    }
}

/// Reads everything, takes this crate's attributes off, and reports all faults at once.
fn understand(options: TokenStream, function: &mut ItemFn) -> Result<Tool> {
    let mut faults = Faults::default();
    faults.check(signature(function));
    let arguments = faults.take(parameters::take(function));
    let options = faults.take(syn::parse2::<Options>(options));
    let name = faults.take(name(options.as_ref(), &function.sig.ident));
    let description = faults.take(description(function));
    let returns = faults.take(returns(function));
    match (arguments, options, name, description, returns) {
        (Some(arguments), Some(options), Some(name), Some(description), Some(returns))
            if faults.0.is_none() =>
        {
            let function = function.clone();
            Ok(Tool {
                function,
                name,
                description,
                options,
                arguments,
                returns,
            })
        }
        _ => Err(faults
            .0
            .unwrap_or_else(|| Error::new(Span::call_site(), "not a tool"))),
    }
}

/// Collects errors, so that an author sees all of them in one build.
#[derive(Default)]
struct Faults(Option<Error>);

impl Faults {
    fn take<T>(&mut self, result: Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                match &mut self.0 {
                    Some(all) => all.combine(error),
                    None => self.0 = Some(error),
                }
                None
            }
        }
    }

    fn check(&mut self, result: Result<()>) {
        self.take(result);
    }

    fn finish<T>(self, value: T) -> Result<T> {
        self.0.map_or(Ok(value), Err)
    }
}

fn signature(function: &ItemFn) -> Result<()> {
    let signature = &function.sig;
    let mut faults = Faults::default();
    if let Some(token) = &signature.asyncness {
        faults.check(Err(Error::new_spanned(
            token,
            "a tool can not be `async`: a call runs by itself and may block",
        )));
    }
    if let Some(token) = &signature.unsafety {
        faults.check(Err(Error::new_spanned(
            token,
            "a tool can not be `unsafe`: a model calls it",
        )));
    }
    if let Some(abi) = &signature.abi {
        faults.check(Err(Error::new_spanned(abi, "a tool has no foreign ABI")));
    }
    if !signature.generics.params.is_empty() {
        faults.check(Err(Error::new_spanned(
            &signature.generics,
            "a tool can not be generic: its arguments need one JSON Schema",
        )));
    }
    if let Some(clause) = &signature.generics.where_clause {
        faults.check(Err(Error::new_spanned(
            clause,
            "a tool can not have a `where` clause",
        )));
    }
    faults.finish(())
}

fn name(options: Option<&Options>, function: &Ident) -> Result<String> {
    let (name, span) = match options.and_then(|options| options.name.as_ref()) {
        Some(name) => (name.value(), name.span()),
        None => (
            syn::ext::IdentExt::unraw(function).to_string(),
            function.span(),
        ),
    };
    let fits = name.len() <= 64
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    if fits {
        return Ok(name);
    }
    Err(Error::new(
        span,
        format!(
            "`{name}` is no tool name: it needs a letter, then up to 63 letters, digits, `-` or \
             `_` (ASCII); choose one with `#[tool(name = \"…\")]`"
        ),
    ))
}

fn description(function: &ItemFn) -> Result<String> {
    let text = documentation::text(&function.attrs)?;
    let Some(text) = text else {
        return Err(Error::new(
            function.sig.ident.span(),
            "a tool needs a doc comment: a model reads it to decide whether to call the tool",
        ));
    };
    let length = text.chars().count();
    if length > MAX_DESCRIPTION {
        return Err(Error::new(
            function.sig.ident.span(),
            format!(
                "the doc comment has {length} characters, and a model is shown {MAX_DESCRIPTION} at \
                 most; move details into ordinary comments or the parameters"
            ),
        ));
    }
    Ok(text)
}

fn returns(function: &ItemFn) -> Result<Type> {
    match &function.sig.output {
        ReturnType::Default => Ok(syn::parse_quote!(())),
        ReturnType::Type(_, ty) => match &**ty {
            Type::ImplTrait(hidden) => Err(Error::new_spanned(
                hidden,
                "a tool can not return `impl Trait`: its answer needs one JSON Schema",
            )),
            Type::Never(never) => Err(Error::new_spanned(
                never,
                "a tool has to return, so that a caller gets an answer",
            )),
            ty => Ok(ty.clone()),
        },
    }
}
