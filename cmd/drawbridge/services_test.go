package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"drawbridge/gateway"
	"drawbridge/gateway/discovery"
)

// Services whose instances have different documents are told, of many so many.
func TestRollouts(t *testing.T) {
	versions := []discovery.DocumentVersion{{Version: "2.0.0\n", Instances: 1, InUse: true}, {Version: "1.0.0", Instances: 2}}
	d := &gateway.Discovery{Services: []gateway.ServiceStatus{
		{API: "shop-orders", Provider: "shop", Name: "orders", State: discovery.Served, Versions: versions}, {API: "shop-stock", State: discovery.Served},
		{API: "shop-bills", Provider: "shop", Namespace: "eu", Name: "bills", State: discovery.Served, Versions: versions},
	}}
	want := `shop-orders: the instances of service orders of shop have 2 documents: version "2.0.0\n" at 1 instance, in use; version "1.0.0" at 2 instances
services with different documents at their instances: 1 more; GET /apis of the admin listener has all`
	if diff := cmp.Diff(want, strings.Join(rollouts(d, 1), "\n")); diff != "" {
		t.Error(diff)
	}
}
