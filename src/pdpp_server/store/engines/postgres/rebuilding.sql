-- In which form the words of an owner are kept. Whoever opens the share of an owner whose form is older makes them anew out
-- of the records: nobody else may see their rows.
alter table layout add column words_form bigint not null default 1;
