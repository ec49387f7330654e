// Package main shows the console to a real browser: the built program in front of one API, of all documents of a corpus, and of a
// hostile document and service; a page of another site; and the authorization server for development. check.mjs is the browser's
// part. It hides how these are played; the one rule: what the browser does is judged by what it and the services have seen, not by
// what the gateway says of it.
package main
