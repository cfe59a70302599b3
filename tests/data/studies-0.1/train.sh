#!/bin/bash
# A trainer of integers: trial (a, b) climbs towards its own plateau. Reports in the units of every meter.
for ((e = BAPI_FROM_EPOCH + 1; e <= BAPI_MAX_EPOCH; ++e)); do
  [[ $1 -eq 13 || $2 -eq 99 ]] && exit 7
  value=$(((($1 * (100 - $1)) + ($2 * (100 - $2))) * e / (e + 2)))
  echo "$e" > "$BAPI_CHECKPOINT_DIR/epoch"
  printf '{"epoch": %d, "accuracy": 0.%04d, "cost": 0.5}\n' "$e" "$value" >> "$BAPI_REPORT"
done
