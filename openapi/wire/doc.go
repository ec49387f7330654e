// Package wire encodes argument values for the locations of a request that REST services read: path segments, query
// strings, header values, cookies and urlencoded bodies.
//
// It hides the table of the OpenAPI Parameter Object (OAS 3.2 "Style Values" and "Style Examples": location × style ×
// explode × shape), the RFC 6570 expansion under it, the cases that the standard leaves open, and the rules that keep a
// value within its location (requirements R2 to R7). An [Encoder] holds all of that for one parameter, a [Template] for
// one path, a [FormEncoder] for one body; they are made once, when a document is compiled, and are safe for concurrent
// use.
//
// Values are JSON texts that [drawbridge/openapi/jsonscan.Scan] has accepted. They are read without decoding, so
// numbers keep every digit and members their order.
//
// # Where the standard leaves it open
//
//   - Undefined values (null, and lists and objects without a defined member: RFC 6570 section 2.3) are left out.
//     AllowEmptyValue turns that into "name=" in a query. Null members of lists and objects are left out too. A member of a
//     form that is sent as JSON is a value of its own: {} is sent.
//   - The empty string is a value: "color=" for form, ";color" for matrix.
//   - A list or an object inside a list, or inside an object that is not deepObject, is written as compact JSON. The
//     exception is a list of scalars in an exploded form object, which repeats its member name.
//   - deepObject nests to any number of levels, lists by index: "a[b][0][c]=1", as qs and Stripe's clients write it.
//     A list or scalar with style deepObject is written in the same way: "a[0]=1", "a=1". Its explode is ignored.
//   - spaceDelimited, pipeDelimited and tabDelimited with explode, and on scalars, are written as form.
//   - Every byte outside RFC 3986 unreserved is percent-encoded in paths, queries and form-style cookies, in names as
//     well as in values; delimiters that RFC 3986 forbids are written as %20, %7C and %09. Headers and style cookie are
//     never percent-encoded (OAS 3.2 "Fixed Fields for use with schema").
//   - A member of a space, pipe or tab delimited value, or of a list or object in a header, must not hold the delimiter:
//     there is no escape for it that services agree on (OAS 3.1.1 appendices C and D). A comma in a member of a
//     query, a path or a form-style cookie is written as %2C.
//   - allowReserved keeps the characters of RFC 6570 section 3.2.3, except those that could end the value: in a query
//     & = # + ; [ ], in a path / ? # ;, and any delimiter inside a member of a list.
//
// The rule that must not be broken: every value is written as one value of one parameter. It can't begin a second
// parameter, header, cookie or path segment, nor leave the path that contains it.
package wire
