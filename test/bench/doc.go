// Bench measures what the gateway costs: calls through it against the same calls through a plain
// httputil.ReverseProxy, on one machine, over loopback, in interleaved rounds.
//
//	go run ./test/bench -gateway bin/drawbridge
//
// Single runs differ by up to 40 % on a shared machine, so what counts are the medians of the ratios of rounds that
// ran side by side. Calls and starts have goals, and a run in which one is missed ends with 1 unless it is short: see
// Goal. The one rule: every answer is verified, byte for byte, against an answer that was parsed and compared with
// what the upstream sends; a fast wrong answer ends the run.
//
// The load generator, the issuer of tokens and the verifier live in this process; the upstream and the reverse
// proxy are this program again, started with -role; the gateway is its own program with token checks on.
package main
