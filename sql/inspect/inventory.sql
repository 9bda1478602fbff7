-- How much waits, how much is dead, and how hard the hardest event tried.
--   psql "$DATABASE_URL" -f sql/inspect/inventory.sql
select
  count(*) filter (where processed_at is null and dead_letter_at is null) as pending,
  count(*) filter (where dead_letter_at is not null) as dead_letter,
  count(*) filter (where processed_at is not null) as processed,
  coalesce(max(attempts), 0) as highest_attempt_count
from goodstanding.billing_events
where provider = 'stripe';
