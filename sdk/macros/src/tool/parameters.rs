//! The parameters of a tool: what each is called, how it is decoded, what it defaults to.

use syn::spanned::Spanned;
use syn::{
    Attribute, Error, Expr, ExprLit, FnArg, GenericArgument, Ident, ItemFn, Lit, Meta, Pat,
    PathArguments, Result, Type, TypePath, parse_quote_spanned,
};

use super::{Faults, documentation};

/// How a tool takes its arguments.
pub enum Arguments {
    /// Each parameter of the function is one.
    Listed(Vec<Parameter>),
    /// One parameter marked `#[arguments]` is all of them: a type of the author's.
    Whole(Box<Parameter>),
}

pub struct Parameter {
    pub ident: Ident,
    /// The type to decode: for a reference, what owns the value.
    pub owned: Type,
    /// The type of the parameter, if it is a reference to the decoded value.
    pub reference: Option<Type>,
    pub description: Option<String>,
    pub default: Option<DefaultValue>,
    /// Attributes of serde and schemars, for the field that stands for the parameter.
    pub forwarded: Vec<Attribute>,
}

pub enum DefaultValue {
    /// `#[default]`
    OfType,
    /// `#[default(expression)]`
    Of(Expr),
}

/// Reads the parameters and takes off their attributes, also when there are faults.
pub fn take(function: &mut ItemFn) -> Result<Arguments> {
    let mut faults = Faults::default();
    let mut parameters = Vec::new();
    let mut whole = None;
    for input in &mut function.sig.inputs {
        let attributes = match input {
            FnArg::Receiver(receiver) => &mut receiver.attrs,
            FnArg::Typed(typed) => &mut typed.attrs,
        };
        let (ours, kept) = std::mem::take(attributes).into_iter().partition(is_ours);
        *attributes = kept;
        let Some(parameter) = faults.take(parameter(input, &ours)) else {
            continue;
        };
        if let Some(marker) = ours
            .iter()
            .find(|attribute| attribute.path().is_ident("arguments"))
        {
            whole = Some((marker.clone(), parameters.len()));
        }
        parameters.push(parameter);
    }
    if let Some(variadic) = &function.sig.variadic {
        faults.check(Err(Error::new_spanned(
            variadic,
            "a tool has a fixed list of parameters",
        )));
    }
    let count = function.sig.inputs.len();
    let arguments = match whole {
        Some((marker, _)) if count != 1 => {
            faults.check(Err(Error::new_spanned(
                marker,
                "a parameter marked `#[arguments]` is all arguments, so it must be the only one",
            )));
            Arguments::Listed(parameters)
        }
        Some((_, index)) => Arguments::Whole(Box::new(parameters.remove(index))),
        None => Arguments::Listed(parameters),
    };
    faults.finish(arguments)
}

fn is_ours(attribute: &Attribute) -> bool {
    ["doc", "default", "arguments", "serde", "schemars"]
        .iter()
        .any(|name| attribute.path().is_ident(name))
}

fn parameter(input: &FnArg, attributes: &[Attribute]) -> Result<Parameter> {
    let typed = match input {
        FnArg::Receiver(receiver) => {
            return Err(Error::new_spanned(
                receiver,
                "a tool is a free function: nothing is kept in memory between calls",
            ));
        }
        FnArg::Typed(typed) => typed,
    };
    let ident = match &*typed.pat {
        Pat::Ident(pattern) if pattern.by_ref.is_none() && pattern.subpat.is_none() => {
            pattern.ident.clone()
        }
        pattern => {
            return Err(Error::new_spanned(
                pattern,
                "a parameter needs a plain name: it is the argument's name; take it apart in the body",
            ));
        }
    };
    let (owned, reference) = owned_type(&typed.ty)?;
    let default = default_of(attributes, &owned)?;
    let is_whole = attributes
        .iter()
        .any(|attribute| attribute.path().is_ident("arguments"));
    if is_whole && default.is_some() {
        return Err(Error::new_spanned(
            &typed.pat,
            "`#[arguments]` is all arguments; give its fields defaults with `#[serde(default)]`",
        ));
    }
    Ok(Parameter {
        ident,
        owned,
        reference,
        description: documentation::text(attributes)?,
        default,
        forwarded: attributes
            .iter()
            .filter(|attribute| {
                attribute.path().is_ident("serde") || attribute.path().is_ident("schemars")
            })
            .cloned()
            .collect(),
    })
}

/// The type that owns a parameter's value, and the type of the reference to it, if any.
fn owned_type(ty: &Type) -> Result<(Type, Option<Type>)> {
    match ty {
        Type::Reference(reference) if reference.mutability.is_some() => Err(Error::new_spanned(
            reference,
            "a tool can not change its caller's values; take the value itself, with `mut`",
        )),
        Type::Reference(reference) if reference.lifetime.is_some() => Err(Error::new_spanned(
            &reference.lifetime,
            "arguments live as long as the call; leave the lifetime out",
        )),
        Type::Reference(reference) => {
            let target = &*reference.elem;
            reject_inner(target)?;
            let owned = match target {
                Type::Slice(slice) => {
                    let element = &slice.elem;
                    parse_quote_spanned!(ty.span()=> ::std::vec::Vec<#element>)
                }
                Type::Path(path) if is_unsized(path) => {
                    parse_quote_spanned!(ty.span()=> <#target as ::std::borrow::ToOwned>::Owned)
                }
                target => target.clone(),
            };
            Ok((owned, Some(ty.clone())))
        }
        ty => {
            reject_inner(ty)?;
            Ok((ty.clone(), None))
        }
    }
}

/// The types of the standard library that exist behind a pointer only, and can be decoded.
fn is_unsized(path: &TypePath) -> bool {
    path.path
        .segments
        .last()
        .is_some_and(|last| last.ident == "str" || last.ident == "Path")
}

fn reject_inner(ty: &Type) -> Result<()> {
    match ty {
        Type::ImplTrait(hidden) => Err(Error::new_spanned(
            hidden,
            "a tool can not be generic: its arguments need one JSON Schema",
        )),
        Type::Infer(infer) => Err(Error::new_spanned(infer, "write the type out")),
        ty => match inner_of(ty, "Option") {
            Some(inner @ Type::Reference(_)) => Err(Error::new_spanned(
                inner,
                "an optional argument must own its value, for instance `Option<String>`",
            )),
            _ => Ok(()),
        },
    }
}

fn default_of(attributes: &[Attribute], ty: &Type) -> Result<Option<DefaultValue>> {
    let mut all = attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("default"));
    let Some(attribute) = all.next() else {
        return Ok(None);
    };
    if let Some(second) = all.next() {
        return Err(Error::new_spanned(second, "a parameter has one default"));
    }
    if inner_of(ty, "Option").is_some() {
        return Err(Error::new_spanned(
            attribute,
            "an `Option` is optional by itself, and `None` when absent; take the inner type to \
             have another default",
        ));
    }
    match &attribute.meta {
        Meta::Path(_) => Ok(Some(DefaultValue::OfType)),
        Meta::List(list) => Ok(Some(DefaultValue::Of(list.parse_args()?))),
        Meta::NameValue(meta) => Err(Error::new_spanned(
            meta,
            "write `#[default(value)]`, or `#[default]` alone",
        )),
    }
}

/// `T` of `Option<T>`, by the name it is written with.
fn inner_of<'a>(ty: &'a Type, name: &str) -> Option<&'a Type> {
    let Type::Path(path) = ty else { return None };
    let last = path
        .path
        .segments
        .last()
        .filter(|segment| segment.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    match arguments.args.first() {
        Some(GenericArgument::Type(inner)) if arguments.args.len() == 1 => Some(inner),
        _ => None,
    }
}

/// Whether an expression is a plain text, which may become any type made from one.
pub fn is_text(expression: &Expr) -> bool {
    matches!(
        expression,
        Expr::Lit(ExprLit {
            lit: Lit::Str(_),
            ..
        })
    )
}
