//! Which operation a test's last statement is about, read from the printed test: the paths of the library are known, types are not.

use std::collections::BTreeSet;

use syn::{Expr, Stmt};

use super::pieces::{Pieces, asserted, bound};

/// The path of the operation whose result the last statement looks at.
pub fn operation(paths: &BTreeSet<&str>, pieces: &Pieces) -> Option<String> {
    let statements: Vec<&Stmt> = pieces.statements().collect();
    let (last, before) = statements.split_last()?;
    let reader = Reader { paths, before };
    let looked = match last {
        Stmt::Local(local) => (*local.init.as_ref()?.expr).clone(),
        Stmt::Expr(expr, _) => expr.clone(),
        other => asserted(other)?,
    };
    reader.call(&looked, DEEPEST).map(|call| call.path)
}

/// Variables that are followed to where they were made, one after another, at most.
const DEEPEST: usize = 8;

struct Reader<'a> {
    paths: &'a BTreeSet<&'a str>,
    before: &'a [&'a Stmt],
}

/// A call, and the name of the type that it is a method of.
struct Call {
    path: String,
    of: Option<String>,
}

impl Reader<'_> {
    /// The outermost call of the library's in an expression, or in what a variable of it was made by.
    fn call(&self, expr: &Expr, deep: usize) -> Option<Call> {
        let deep = deep.checked_sub(1)?;
        let within = |expr: &Expr| self.call(expr, deep);
        match expr {
            Expr::Call(call) => self.function(&call.func).or_else(|| call.args.iter().find_map(within)),
            Expr::MethodCall(call) => {
                let method = call.method.to_string();
                let inner = within(&call.receiver);
                let of = inner.as_ref().and_then(|call| call.of.clone());
                self.path(&method, of.as_deref(), inner.is_some())
                    .map(|path| Call { path, of })
                    .or(inner)
                    .or_else(|| call.args.iter().find_map(within))
            }
            Expr::Reference(inner) => within(&inner.expr),
            Expr::Paren(inner) => within(&inner.expr),
            Expr::Unary(inner) => within(&inner.expr),
            Expr::Try(inner) => within(&inner.expr),
            Expr::Cast(inner) => within(&inner.expr),
            Expr::Field(inner) => within(&inner.base),
            Expr::Index(inner) => within(&inner.expr),
            Expr::Binary(both) => within(&both.left).or_else(|| within(&both.right)),
            Expr::Macro(inner) => {
                let words = inner.mac.tokens.to_string();
                self.variable(words.split(|c: char| !c.is_alphanumeric() && c != '_'), deep)
            }
            Expr::Path(path) => {
                self.variable(path.path.get_ident().map(ToString::to_string).as_deref(), deep)
            }
            _ => None,
        }
    }

    /// What made the first of these that is a variable.
    fn variable<'b>(&self, words: impl IntoIterator<Item = &'b str>, deep: usize) -> Option<Call> {
        words.into_iter().find_map(|word| {
            let made = self.before.iter().find(|made| bound(made).as_deref() == Some(word))?;
            let Stmt::Local(local) = made else { return None };
            self.call(&local.init.as_ref()?.expr, deep)
        })
    }

    /// `Type::<T>::function`, `<Type as Trait>::function` or a free one.
    fn function(&self, function: &Expr) -> Option<Call> {
        let Expr::Path(path) = function else { return None };
        let segments: Vec<String> =
            path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let (name, before) = segments.split_last()?;
        let of = match &path.qself {
            Some(own) => last_name(&own.ty),
            None => before.last().cloned(),
        };
        let path = self.path(name, of.as_deref(), false)?;
        Some(Call { path, of })
    }

    /// The library's path with this name at its end, best of the type. Of `any` value of another library's type, too.
    fn path(&self, name: &str, of: Option<&str>, any: bool) -> Option<String> {
        let ending = format!("::{name}");
        let named: Vec<&&str> =
            self.paths.iter().filter(|path| path.ends_with(&ending) || **path == name).collect();
        let of_it = |path: &&&str| {
            of.is_some_and(|of| path.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == of))
        };
        let found = named.iter().copied().find(of_it);
        let alone = || if any && named.len() != 1 { None } else { named.first().copied() };
        found.or_else(alone).map(|path| (*path).to_owned())
    }
}

fn last_name(ty: &syn::Type) -> Option<String> {
    match ty {
        syn::Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        syn::Type::Reference(to) => last_name(&to.elem),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(statements: &str) -> Option<String> {
        let paths = BTreeSet::from([
            "Queue::new",
            "Queue::len",
            "Stack::new",
            "Stack::len",
            "Stack::peek",
            "parse",
            "<Queue as Ord>::cmp",
        ]);
        let test = format!("#[test]\nfn works() {{\n{statements}\n}}\n");
        operation(&paths, &Pieces::of(&test).expect("a test"))
    }

    #[test]
    fn the_operation_is_the_one_whose_result_is_asserted() {
        let cases = [
            ("let queue = Queue::<u8>::new(); assert_eq!(queue.len(), 0);", Some("Queue::len")),
            ("let stack = Stack::<u8>::new(); assert!(stack.peek().is_none());", Some("Stack::peek")),
            ("let stack = Stack::new(); assert_eq!(format!(\"{stack:?}\"), \"[]\");", Some("Stack::new")),
            ("let read = a::parse(\"1\"); assert_eq!(read.unwrap(), 1);", Some("parse")),
            ("let a = Queue::new(); let _ = <Queue<u8> as Ord>::cmp(&a, &a);", Some("<Queue as Ord>::cmp")),
            ("assert_eq!(1, 2);", None),
        ];
        for (statements, expected) in cases {
            assert_eq!(named(statements).as_deref(), expected, "{statements}");
        }
    }
}
