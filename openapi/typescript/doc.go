// Package typescript writes JSON Schemas in the manner of TypeScript, which models read as well as a schema for a tenth of the
// tokens: the signature of a tool in one line ([Signature]), its arguments alone ([Arguments]), and declarations with comments ([Declare]).
//
// It hides how a schema is seen: what references, allOf and alternatives come to, which members an object has and requires, and
// which formats and patterns a caller must know. The signature and the declarations share that view (shape). It also hides what is shown
// first when there is not room for all.
//
// A type in one line is written for a length, which its members share.
//
// The rule that must not be broken: nothing is left out without a word. A required argument is always named, and so is an optional one
// as far as the limits allow; after them, an ellipsis says that there is more.
package typescript
