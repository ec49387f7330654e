// Package main measures service discovery from outside: the built program, a registry in the format of http_sd or files of file_sd, and
// services on loopback. It prints how soon services that come, go and move are followed, whether calls fail while a registry is away or
// services move, and what many services cost. It hides how services and registries are played; the one rule: what is counted as failed is
// every call that did not return the service's response.
package main
