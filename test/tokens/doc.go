// Command tokens measures what becomes of good tokens while their authorization server rotates its keys, is flooded with
// unknown key ids by somebody's tokens, or can't be reached: the figures on rotation, random key ids and outages of a
// real gateway process under load. It fails when one of them is missed.
//
// The one rule: a token counts as good only if its key is published and it has not expired, so that every 401 it gets
// is the gateway's fault.
package main
