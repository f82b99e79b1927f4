#!/bin/sh
# Signs in, queries a list, orders, and uploads an image, with curl: sh apps/examples/src/shop.sh [URL of a server with the demonstration data]
set -eu
api=${1:-http://localhost:3000}
json='content-type: application/json'

# the first value of a key in JSON: a string or a number
text() { grep -o "\"$1\":\"[^\"]*\"" | head -n 1 | cut -d '"' -f 4; }
number() { grep -o "\"$1\":[0-9.]*" | head -n 1 | cut -d : -f 2; }
sign_in() { curl -fsS "$api/auth/login" -H "$json" -d "{\"email\":\"$1\",\"password\":\"tea at the harbour\"}"; }

# the catalogue is public
bell=$(curl -fsSG "$api/products" --data-urlencode '$search=bell' --data-urlencode '$top=1')
bell_id=$(echo "$bell" | text id)
echo "a bell costs $(echo "$bell" | number amount) $(echo "$bell" | text currency)"

# Ada orders two; the idempotency key makes retries return the same order
ada=$(sign_in ada@example.org)
ada_id=$(echo "$ada" | text id)
as_ada="authorization: Bearer $(echo "$ada" | text accessToken)"
key="idempotency-key: $ada_id-$(date +%s)"
order="{\"identityId\":\"$ada_id\",\"items\":[{\"productId\":\"$bell_id\",\"quantity\":2}]}"
for _ in 1 2; do
  made=$(curl -fsS "$api/orders" -H "$as_ada" -H "$json" -H "$key" -d "$order")
done
order_id=$(echo "$made" | text id)
echo "the order is $(echo "$made" | text status), $(echo "$made" | number total) in all"
curl -fsS -X POST "$api/orders/$order_id/cancel" -H "$as_ada" | text status

# Oscar, who owns the shop, adds an image to the bell: upload URL, file, attachment
oscar=$(sign_in oscar@example.org)
as_oscar="authorization: Bearer $(echo "$oscar" | text accessToken)"
dot=$(mktemp)
trap 'rm -f "$dot"' EXIT
printf 'GIF89a\1\0\1\0\200\0\0\0\0\0\377\377\377,\0\0\0\0\1\0\1\0\0\2\2D\1\0;' > "$dot"
size=$(wc -c < "$dot" | tr -d ' ')
address=$(curl -fsS "$api/products/$bell_id/image-upload-url?contentType=image/gif&contentLength=$size" -H "$as_oscar")
curl -fsS -X PUT "$(echo "$address" | text url)" -H 'content-type: image/gif' --data-binary "@$dot"
image=$(curl -fsS "$api/products/$bell_id/images" -H "$as_oscar" -H "$json" \
  -d "{\"objectId\":\"$(echo "$address" | text objectId)\",\"type\":\"image/gif\"}")
curl -fsS "$(echo "$image" | text url)" | cmp - "$dot" && echo "the image is shown, $size bytes"
curl -fsS -X DELETE "$api/products/$bell_id/images/$(echo "$image" | text id)" -H "$as_oscar"

# an error has a status, a message and a list of problems
curl -sSG "$api/products" --data-urlencode '$filter=colour eq 1' -w ' %{http_code}\n'
