// Command streams measures open streams of changes against a real gateway process: what each of many costs in memory, how long it
// takes until all of them know of a change, over HTTP/1.1 and HTTP/2, and whether each is told once of each of many changes while
// calls are made, of which each comes to one version alone, and leaves nothing behind. It fails when a figure is missed.
//
// The one rule: a stream counts as told only when its own client has read the notification.
package main
