//! From what an author's function returns to an [`Output`] or a [`ToolError`].
//!
//! The choice between "text", "optional" and "structured" falls at compile time, by
//! the order in which the compiler looks for methods (autoref specialisation): the
//! macro writes `(&&&success).output(value)`, and the first trait below whose impl
//! fits decides. The last of each chain fits always and carries its bounds on the
//! method, so that a type which fits nowhere is a readable error at the type.

use std::convert::Infallible as Never;
use std::error::Error;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema};
use serde::Serialize;

use super::schema;
use crate::error::ToolError;
use crate::output::{IntoOutput, Output};

/// Stands for the return type of a tool's function.
pub struct Returned<R>(PhantomData<fn() -> R>);

/// Stands for the type of a successful answer.
pub struct Success<T>(PhantomData<fn() -> T>);

/// Stands for the type of an error.
pub struct Failure<E>(PhantomData<fn() -> E>);

#[allow(
    clippy::new_without_default,
    clippy::unused_self,
    reason = "only the macro calls these"
)]
impl<R> Returned<R> {
    /// The stand-in of `R`.
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

#[allow(clippy::unused_self, reason = "the receiver selects the types")]
impl<T, E> Returned<Result<T, E>> {
    /// The stand-in of the answer.
    pub const fn success(&self) -> Success<T> {
        Success(PhantomData)
    }

    /// The stand-in of the error.
    pub const fn failure(&self) -> Failure<E> {
        Failure(PhantomData)
    }

    /// The value as a result: as it is.
    ///
    /// # Errors
    ///
    /// The author's own.
    pub fn result(&self, value: Result<T, E>) -> Result<T, E> {
        value
    }
}

/// The same for every other type. The inherent methods above win where they fit.
pub trait Infallible<R> {
    /// The stand-in of the answer.
    fn success(&self) -> Success<R> {
        Success(PhantomData)
    }

    /// The stand-in of an error that never comes.
    fn failure(&self) -> Failure<Never> {
        Failure(PhantomData)
    }

    /// The value as a result: always a success.
    fn result(&self, value: R) -> Result<R, Never> {
        Ok(value)
    }
}

impl<R> Infallible<R> for Returned<R> {}

/// Answers that know how: texts, contents, `()`.
pub trait ExplicitAnswer<T> {
    /// What the descriptor says about the answer.
    fn schema(&self) -> Option<Schema>;
    /// The answer.
    fn output(&self, value: T) -> Result<Output, ToolError>;
}

impl<T: IntoOutput> ExplicitAnswer<T> for &&Success<T> {
    fn schema(&self) -> Option<Schema> {
        T::output_schema()
    }

    fn output(&self, value: T) -> Result<Output, ToolError> {
        value.into_output()
    }
}

/// `Option<T>`: always `{"result": …}`, so that its shape does not depend on the value.
pub trait OptionalAnswer<T> {
    /// What the descriptor says about the answer.
    fn schema(&self) -> Option<Schema>
    where
        T: Structurable;
    /// The answer.
    fn output(&self, value: Option<T>) -> Result<Output, ToolError>
    where
        T: Structurable;
}

impl<T> OptionalAnswer<T> for &Success<Option<T>> {
    fn schema(&self) -> Option<Schema>
    where
        T: Structurable,
    {
        Some(schema::wrapped_answer::<Option<T>>())
    }

    fn output(&self, value: Option<T>) -> Result<Output, ToolError>
    where
        T: Structurable,
    {
        let structured = wrap(&to_json(&value)?);
        Ok(Output {
            contents: Vec::new(),
            structured: Some(structured),
        })
    }
}

/// Everything else: a JSON object with a schema.
pub trait StructuredAnswer<T> {
    /// What the descriptor says about the answer.
    fn schema(&self) -> Option<Schema>
    where
        T: Structurable;
    /// The answer.
    fn output(&self, value: T) -> Result<Output, ToolError>
    where
        T: Structurable;
}

impl<T> StructuredAnswer<T> for Success<T> {
    fn schema(&self) -> Option<Schema>
    where
        T: Structurable,
    {
        Some(schema::answer::<T>())
    }

    fn output(&self, value: T) -> Result<Output, ToolError>
    where
        T: Structurable,
    {
        Ok(Output {
            contents: Vec::new(),
            structured: Some(to_object(&value)?),
        })
    }
}

/// What a structured answer must be able to do.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can not be the answer of a tool",
    label = "not text, not contents, and not both `Serialize` and `JsonSchema`",
    note = "put `#[prx_skill::data]` on the type, or return `String`, `Output` or `()`"
)]
pub trait Structurable: Serialize + JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + JsonSchema> Structurable for T {}

/// The JSON object of a value: itself if it is an object, else `{"result": value}`.
pub(crate) fn to_object<T: Serialize>(value: &T) -> Result<String, ToolError> {
    let json = to_json(value)?;
    Ok(if json.starts_with('{') {
        json
    } else {
        wrap(&json)
    })
}

fn to_json<T: Serialize>(value: &T) -> Result<String, ToolError> {
    serde_json::to_string(value)
        .map_err(|error| ToolError::failed(format!("the answer has no JSON form: {error}")))
}

fn wrap(json: &str) -> String {
    ["{\"result\":", json, "}"].concat()
}

/// Errors that `?` converts as well: `ToolError` and all that implement `Error`.
pub trait FromError<E> {
    /// The error of the call.
    fn tool_error(&self, error: E) -> ToolError;
}

impl<E: Into<ToolError>> FromError<E> for &&Failure<E> {
    fn tool_error(&self, error: E) -> ToolError {
        error.into()
    }
}

/// Errors that can be boxed: `String`, `&str`, `Box<dyn Error>`, `anyhow::Error`.
pub trait FromLocalBox<E> {
    /// The error of the call.
    fn tool_error(&self, error: E) -> ToolError;
}

impl<E: Into<Box<dyn Error>>> FromLocalBox<E> for &Failure<E> {
    fn tool_error(&self, error: E) -> ToolError {
        ToolError::from_error(&*error.into())
    }
}

/// `Box<dyn Error + Send + Sync>`, and the place of the message for all that fits nowhere.
pub trait FromSharedBox<E> {
    /// The error of the call.
    fn tool_error(&self, error: E) -> ToolError
    where
        E: Reportable;
}

impl<E> FromSharedBox<E> for Failure<E> {
    fn tool_error(&self, error: E) -> ToolError
    where
        E: Reportable,
    {
        ToolError::from_error(&*error.report())
    }
}

/// What an error type must be able to do.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can not be the error of a tool",
    label = "neither `ToolError` nor something that implements `std::error::Error`",
    note = "implement `std::error::Error` for the type, or return `Result<_, ToolError>`"
)]
pub trait Reportable {
    /// The error behind a pointer.
    fn report(self) -> Box<dyn Error + Send + Sync>;
}

#[diagnostic::do_not_recommend]
impl<E: Into<Box<dyn Error + Send + Sync>>> Reportable for E {
    fn report(self) -> Box<dyn Error + Send + Sync> {
        self.into()
    }
}
