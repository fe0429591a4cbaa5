//! Externally tagged enums (`{"name": content}` or `"name"`) whose unknown names are kept instead of failing.

/// Declares an enum with `unit` and `data` variants by their names in JSON; anything else becomes `Other(name)`.
macro_rules! tolerant_enum {
    ($(#[$attr:meta])* pub enum $Enum:ident { $($unit:ident = $unit_name:literal,)* ; $($data:ident($Content:ty) = $data_name:literal,)* }) => {
        $(#[$attr])*
        #[derive(Debug)]
        pub enum $Enum {
            $($unit,)*
            $($data($Content),)*
            #[allow(dead_code, reason = "not every reader asks what it is that it does not know")]
            Other(String),
        }

        impl<'de> serde::Deserialize<'de> for $Enum {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;

                impl<'de> serde::de::Visitor<'de> for Visitor {
                    type Value = $Enum;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str(concat!("a ", stringify!($Enum)))
                    }

                    fn visit_str<E>(self, name: &str) -> Result<$Enum, E> {
                        Ok(match name {
                            $($unit_name => $Enum::$unit,)*
                            _ => $Enum::Other(name.to_owned()),
                        })
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<$Enum, A::Error> {
                        let Some(name) = map.next_key::<String>()? else {
                            return Err(serde::de::Error::custom(concat!("empty ", stringify!($Enum))));
                        };
                        let value = match name.as_str() {
                            $($data_name => $Enum::$data(map.next_value()?),)*
                            $($unit_name => {
                                map.next_value::<serde::de::IgnoredAny>()?;
                                $Enum::$unit
                            })*
                            _ => {
                                map.next_value::<serde::de::IgnoredAny>()?;
                                $Enum::Other(name)
                            }
                        };
                        while map.next_entry::<serde::de::IgnoredAny, serde::de::IgnoredAny>()?.is_some() {}
                        Ok(value)
                    }
                }

                deserializer.deserialize_any(Visitor)
            }
        }
    };
}

pub(super) use tolerant_enum;
