// Command files measures a gateway process that handles large files: uploads, responses that it stores, downloads, and files that it passes
// on, each with the throughput and the resident memory that it takes beyond that of the idle process. A reverse proxy of
// net/http/httputil in another process does the same without a disk. The memory is that of /proc, so it runs on Linux only.
package main
