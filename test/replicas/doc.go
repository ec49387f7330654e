// The command replicas runs three gateways that share a Redis, has calls made at all of them while Redis is killed and
// started again, and prints what the callers noticed. The tests beside it hold what one replica must know of another.
package main
