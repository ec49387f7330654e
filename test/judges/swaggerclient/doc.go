// Swaggerclient holds the requests of the gateway against those of swagger-client, the reference JavaScript client of
// OpenAPI: the same operation, the same arguments, the same request.
//
// For each operation of the documents it makes arguments from the published input schema (package generate), builds the
// request by openapi.NewRequest, which is what "drawbridge call --dry-run" prints, and has build.mjs build the same call
// with SwaggerClient.buildRequest. Both requests are brought into a normal form (request.go) and compared piece by piece.
// A difference counts as explained only if a rule (rules.go) names the clause of the standard that decides for us.
//
//	go run ./test/judges/swaggerclient -node NODE -packages DIR [-sample N] [-seed S] [-markdown] [DOCUMENT…]
//
// It exits 1 when a difference is not explained, or too little was compared. Only the words of swagger-client itself take
// an operation out of the count.
package main
