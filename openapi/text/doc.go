// Package text changes texts from documents, services and clients before they are shown: it shortens them ([Truncate] and its
// relatives), writes names of other scripts in ASCII ([Latin]), and finds the name that was probably meant ([Nearest]), which
// errors suggest ([DidYouMean]).
//
// It hides the tables of transliteration and the measure of similarity, and depends on no other package of drawbridge,
// so that every package may use it. The rules that must not be broken: a shortened text is never longer than its limit,
// the ellipsis included, and no character is split; [Nearest] returns only names that it was given, so that it never
// reveals a name to a caller who may not know it; and a transliterated name doesn't change with a release without a
// notice to users.
package text
