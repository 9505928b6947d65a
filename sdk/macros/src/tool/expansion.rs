//! What `#[tool]` writes: the function, a type of the same name that stands for the tool
//! (types and functions have separate namespaces), and its `Tool` implementation.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, Ident, ItemFn, PathArguments, Type};

use super::Tool;
use super::parameters::{Arguments, DefaultValue, Parameter, is_text};

pub fn tool(tool: &Tool) -> TokenStream {
    let Tool { function, name, .. } = tool;
    let ident = &function.sig.ident;
    let stand_in = stand_in(function);
    let arguments = arguments_type(&tool.arguments);
    let describe = describe(tool);
    let call = call(tool);
    quote! {
        // An agent's arguments arrive as values, whatever the function does with them.
        #[allow(clippy::needless_pass_by_value)]
        #function
        #stand_in

        const _: () = {
            #arguments

            #[automatically_derived]
            impl ::prx_skill::Tool for #ident {
                const NAME: &'static ::core::primitive::str = #name;
                #describe
                #call
            }
        };
    }
}

/// The function and its stand-in after a fault, so that the fault is the only error shown.
pub fn faulty(function: &ItemFn, error: &Error) -> TokenStream {
    let ident = &function.sig.ident;
    let stand_in = stand_in(function);
    let error = error.to_compile_error();
    // A method stands in an `impl`, where neither a type nor another `impl` may stand.
    if function.sig.receiver().is_some() {
        return quote!(#error #function);
    }
    quote! {
        #error
        #function
        #stand_in

        #[automatically_derived]
        impl ::prx_skill::Tool for #ident {
            const NAME: &'static ::core::primitive::str = ::core::stringify!(#ident);
            fn describe() -> ::prx_skill::ToolSpec {
                ::core::unreachable!()
            }
            fn call(
                _: &::core::primitive::str,
            ) -> ::core::result::Result<::prx_skill::Output, ::prx_skill::ToolError> {
                ::core::unreachable!()
            }
        }
    }
}

fn stand_in(function: &ItemFn) -> TokenStream {
    let (vis, ident) = (&function.vis, &function.sig.ident);
    quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code)]
        #vis struct #ident {}
    }
}

/// The struct whose fields are the parameters; none if the author brings one.
fn arguments_type(arguments: &Arguments) -> Option<TokenStream> {
    let Arguments::Listed(parameters) = arguments else {
        return None;
    };
    let fields = parameters.iter().map(field);
    let defaults = parameters.iter().filter_map(default_function);
    Some(quote! {
        #[derive(
            ::prx_skill::plumbing::serde::Deserialize,
            ::prx_skill::plumbing::schemars::JsonSchema,
        )]
        #[serde(crate = "::prx_skill::plumbing::serde", deny_unknown_fields)]
        #[schemars(crate = "::prx_skill::plumbing::schemars")]
        struct __Arguments {
            #(#fields,)*
        }

        #(#defaults)*
    })
}

fn field(parameter: &Parameter) -> TokenStream {
    let Parameter {
        ident,
        owned,
        forwarded,
        ..
    } = parameter;
    let description = parameter
        .description
        .as_ref()
        .map(|text| quote!(#[schemars(description = #text)]));
    let default = parameter.default.as_ref().map(|_| {
        let path = default_name(ident).to_string();
        quote!(#[serde(default = #path)])
    });
    quote!(#description #default #(#forwarded)* #ident: #owned)
}

fn default_name(parameter: &Ident) -> Ident {
    quote::format_ident!("__default_{}", parameter)
}

fn default_function(parameter: &Parameter) -> Option<TokenStream> {
    let owned = &parameter.owned;
    let name = default_name(&parameter.ident);
    let value = match parameter.default.as_ref()? {
        DefaultValue::OfType => {
            quote_spanned!(owned.span()=> ::core::default::Default::default())
        }
        DefaultValue::Of(value) if parameter.reference.is_some() => {
            let reference = &parameter.reference;
            quote_spanned! {value.span()=>
                let value: #reference = #value;
                ::std::borrow::ToOwned::to_owned(value)
            }
        }
        DefaultValue::Of(value) if is_text(value) => {
            quote_spanned!(value.span()=> ::core::convert::From::from(#value))
        }
        DefaultValue::Of(value) => value.to_token_stream(),
    };
    Some(quote! {
        fn #name() -> #owned {
            #value
        }
    })
}

fn describe(tool: &Tool) -> TokenStream {
    let Tool {
        name,
        description,
        options,
        returns,
        ..
    } = tool;
    let title = optional(options.title.as_ref());
    let arguments = match &tool.arguments {
        Arguments::Listed(_) => quote!(__Arguments),
        Arguments::Whole(parameter) => parameter.owned.to_token_stream(),
    };
    let input =
        quote_spanned!(arguments.span()=> ::prx_skill::plumbing::schema::arguments::<#arguments>());
    let output = quote_spanned!(spans(returns).0=>
        (&&&::prx_skill::plumbing::Returned::<#returns>::new().success()).schema()
    );
    let [read_only, destructive, idempotent, open_world] = [
        &options.read_only,
        &options.destructive,
        &options.idempotent,
        &options.open_world,
    ]
    .map(|claim| optional(claim.as_ref().map(|claim| claim.value)));
    let requests = options.requests.iter().map(super::options::Request::tokens);
    quote! {
        fn describe() -> ::prx_skill::ToolSpec {
            #[allow(unused_imports)]
            use ::prx_skill::plumbing::{
                ExplicitAnswer as _, Infallible as _, OptionalAnswer as _, StructuredAnswer as _,
            };
            ::prx_skill::ToolSpec {
                name: #name,
                title: #title,
                description: #description,
                input_schema: #input,
                output_schema: #output,
                hints: ::prx_skill::plumbing::Hints {
                    read_only: #read_only,
                    destructive: #destructive,
                    idempotent: #idempotent,
                    open_world: #open_world,
                },
                requests: &[#(#requests),*],
            }
        }
    }
}

fn optional(value: Option<impl ToTokens>) -> TokenStream {
    value.map_or_else(
        || quote!(::core::option::Option::None),
        |value| quote!(::core::option::Option::Some(#value)),
    )
}

fn call(tool: &Tool) -> TokenStream {
    let Tool {
        function, returns, ..
    } = tool;
    let ident = &function.sig.ident;
    let borrow = |parameter: &Parameter| parameter.reference.as_ref().map(|_| quote!(&));
    let (arguments, passed) = match &tool.arguments {
        Arguments::Listed(parameters) => {
            let passed = parameters.iter().map(|parameter| {
                let (borrow, field) = (borrow(parameter), &parameter.ident);
                quote!(#borrow __arguments.#field)
            });
            (quote!(__Arguments), quote!(#(#passed),*))
        }
        Arguments::Whole(parameter) => {
            let borrow = borrow(parameter);
            (
                parameter.owned.to_token_stream(),
                quote!(#borrow __arguments),
            )
        }
    };
    let (answer_span, error_span) = spans(returns);
    let output = quote_spanned!(answer_span=> (&&&__returned.success()).output(__answer));
    let error = quote_spanned!(error_span=> (&&&__returned.failure()).tool_error(__error));
    let decode =
        quote_spanned!(arguments.span()=> ::prx_skill::plumbing::decode::<#arguments>(__json));
    quote! {
        fn call(
            __json: &::core::primitive::str,
        ) -> ::core::result::Result<::prx_skill::Output, ::prx_skill::ToolError> {
            #[allow(unused_imports)]
            use ::prx_skill::plumbing::{
                ExplicitAnswer as _, FromError as _, FromLocalBox as _, FromSharedBox as _,
                Infallible as _, OptionalAnswer as _, StructuredAnswer as _,
            };
            #[allow(unused_variables)]
            let __arguments = #decode?;
            let __returned = ::prx_skill::plumbing::Returned::<#returns>::new();
            match __returned.result(#ident(#passed)) {
                ::core::result::Result::Ok(__answer) => #output,
                ::core::result::Result::Err(__error) => ::core::result::Result::Err(#error),
            }
        }
    }
}

/// Where to report that an answer and that an error does not fit: inside of what is
/// written as a `Result`, else at the whole type.
fn spans(returns: &Type) -> (Span, Span) {
    let whole = returns.span();
    let Type::Path(path) = returns else {
        return (whole, whole);
    };
    let Some(last) = path
        .path
        .segments
        .last()
        .filter(|last| last.ident == "Result")
    else {
        return (whole, whole);
    };
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return (whole, whole);
    };
    let span = |index| arguments.args.get(index).map_or(whole, Spanned::span);
    (span(0), span(1))
}
