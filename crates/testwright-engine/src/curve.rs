//! Points of a search's progress: many at first, then every second, fourth, eighth.

use testwright_emit::report::CurvePoint;

/// Points that are kept at most.
const MOST: usize = 200;

#[derive(Clone, Debug, Default)]
pub struct Curve {
    points: Vec<CurvePoint>,
    /// One in so many is kept, and how many came.
    stride: u64,
    seen: u64,
    last: Option<CurvePoint>,
}

impl Curve {
    pub fn add(&mut self, point: CurvePoint) {
        self.last = Some(point);
        if self.seen.is_multiple_of(self.stride.max(1)) {
            self.points.push(point);
        }
        self.seen += 1;
        if self.points.len() > MOST {
            self.stride = 2 * self.stride.max(1);
            let mut place = 0;
            self.points.retain(|_| {
                place += 1;
                place % 2 == 1
            });
        }
    }

    /// The points that were kept, and the last.
    pub fn points(&self) -> Vec<CurvePoint> {
        let mut points = self.points.clone();
        points.extend(self.last);
        points.dedup();
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_search_leaves_few_points_from_end_to_end() {
        let mut curve = Curve::default();
        for executions in 1..=100_000 {
            curve.add(CurvePoint { executions, reached: 1, failures: 0 });
        }
        let points = curve.points();
        assert!((MOST / 2..=MOST + 1).contains(&points.len()), "{}", points.len());
        assert_eq!((points[0].executions, points[points.len() - 1].executions), (1, 100_000));
        assert!(points.windows(2).all(|pair| pair[0].executions < pair[1].executions));
    }
}
