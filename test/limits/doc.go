// Package limits runs the gateway as its image says: from the unpacked image alone, as the image's user, with a root that
// can't be written to, without capabilities, HOME or environment, and with little memory. The one rule: what is run is what
// the archive of make image holds, found as a container engine finds it.
package limits
