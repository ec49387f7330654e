// Package nacos finds services at a Nacos server of version 1, 2 or 3, by its HTTP API.
//
// It hides which of the two APIs a server has, their pages, the account's token, which instances are called, and what is kept
// after a restart of the server.
//
// The rule that must not be broken: services are reported once all of a group have been read, and the password and the token are
// sent to the server alone and are in no error.
package nacos
