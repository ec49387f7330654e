// Package fence holds no code, only the tests that keep the layout: the arrows between the project's packages, the
// third-party modules that each of them may import, and what may stand at the top level. The table of arrows stands in
// docs/contributing/architecture.md; the one rule: a new arrow, import or top-level entry is a design change, so write an ADR first
// and then a row here.
package fence
