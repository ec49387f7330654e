// Package proxytest is a small proxy for tests, over HTTP (CONNECT), HTTPS or SOCKS5. It records what it is asked for, and can answer
// as broken proxies do.
package proxytest
