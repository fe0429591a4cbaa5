//! Operators and their assigning forms.

use super::{Law, ONE, TWO};

const CLONE: &str = "std::clone::Clone";
const EQ: &str = "std::cmp::Eq";

macro_rules! assigning {
    ($class:literal, $trait_:literal, $assigning:literal, $method:literal, $sign:literal, $says:literal) => {
        Law {
            class: $class,
            title: "agrees_with_its_operator",
            blames: ($assigning, $method),
            needs: &[concat!("std::ops::", $trait_), concat!("std::ops::", $assigning), CLONE, EQ],
            written: &[concat!("std::ops::", $trait_), concat!("std::ops::", $assigning)],
            takes: TWO,
            code: concat!(
                "{ let mut changed = Clone::clone({0}); changed ",
                $sign,
                "= Clone::clone({1}); assert!(changed == (Clone::clone({0}) ",
                $sign,
                " Clone::clone({1})), \"",
                $says,
                "\"); }"
            ),
            says: $says,
            source: concat!("std::ops::", $assigning, ": the assigning form of the operator"),
            ..Law::NONE
        }
    };
}

pub const LAWS: &[Law] = &[
    assigning!("law:AddAssign.agrees", "Add", "AddAssign", "add_assign", "+", "`a += b` is `a = a + b`"),
    assigning!("law:SubAssign.agrees", "Sub", "SubAssign", "sub_assign", "-", "`a -= b` is `a = a - b`"),
    assigning!("law:MulAssign.agrees", "Mul", "MulAssign", "mul_assign", "*", "`a *= b` is `a = a * b`"),
    assigning!("law:DivAssign.agrees", "Div", "DivAssign", "div_assign", "/", "`a /= b` is `a = a / b`"),
    assigning!("law:RemAssign.agrees", "Rem", "RemAssign", "rem_assign", "%", "`a %= b` is `a = a % b`"),
    assigning!(
        "law:BitAndAssign.agrees",
        "BitAnd",
        "BitAndAssign",
        "bitand_assign",
        "&",
        "`a &= b` is `a = a & b`"
    ),
    assigning!(
        "law:BitOrAssign.agrees",
        "BitOr",
        "BitOrAssign",
        "bitor_assign",
        "|",
        "`a |= b` is `a = a | b`"
    ),
    assigning!(
        "law:BitXorAssign.agrees",
        "BitXor",
        "BitXorAssign",
        "bitxor_assign",
        "^",
        "`a ^= b` is `a = a ^ b`"
    ),
    Law {
        class: "law:Neg.twice",
        title: "undoes_itself",
        blames: ("Neg", "neg"),
        needs: &["std::ops::Neg", CLONE, EQ],
        written: &["std::ops::Neg"],
        takes: ONE,
        code: r#"{
            let negative = -Clone::clone({0});
            assert!(-negative == {*0}, "`-(-a)` is `a`");
        }"#,
        says: "`-(-a)` is `a`",
        source: "std::ops::Neg: negation, for types with `Eq`",
        ..Law::NONE
    },
    Law {
        class: "law:Not.twice",
        title: "undoes_itself",
        blames: ("Not", "not"),
        needs: &["std::ops::Not", CLONE, EQ],
        written: &["std::ops::Not"],
        takes: ONE,
        code: r#"{
            let inverse = !Clone::clone({0});
            assert!(!inverse == {*0}, "`!!a` is `a`");
        }"#,
        says: "`!!a` is `a`",
        source: "std::ops::Not: logical or bitwise inverse, for types with `Eq`",
        ..Law::NONE
    },
];
