// Command image writes a container image of the gateway as an OCI image layout in one tar file, from static
// binaries, one for each processor, and a bundle of CA certificates, with no daemon, no registry and no base image.
//
// It hides the layout, the layers and their compression. The one rule: the file depends on nothing but the bytes of
// the binaries and of the bundle, and on what the flags say of their origin, so the same inputs give the same bytes on every machine with the same version of Go.
package main
