// Package egress runs the gateway behind real proxies (make proxy-egress): squid, tinyproxy and microsocks in front of services, documents,
// authorization servers and a collector, with names that lead where they may and where they may not.
package egress
