// The command failover runs two gateways behind a real nginx with the configuration of deploy/nginx, has calls made through it, and prints
// how many failed: while the gateways are restarted one after the other and their identity provider does not answer, and while the disk
// of one gateway's audit log is full.
package main
