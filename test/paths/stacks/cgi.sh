#!/bin/sh
# One script, four names: orders.sh, files.sh, search.sh, foreign.sh.
name=$(basename "$0" .sh)
printf 'Content-Type: text/plain\r\n\r\n'
case $name in
orders | files) printf 'route=%s\nraw=/v1/%s%s\n' "$name" "$name" "$PATH_INFO" ;;
search) printf 'route=search\nquery=%s\nref=%s\n' "$QUERY_STRING" "$HTTP_X_REF" ;;
*) printf 'route=foreign %s\n' "$REQUEST_URI" ;;
esac
