-- Indexes of the tables of records.
CREATE INDEX studies_place ON studies (kind, place, entry);
CREATE INDEX trials_study ON trials (study);
CREATE INDEX verdicts_study ON verdicts (study);
CREATE INDEX sources_study ON sources (study);
