CREATE TABLE public.sluice_indexes (
    schema text NOT NULL,
    "table" text NOT NULL,
    name text NOT NULL,
    is_key boolean NOT NULL,
    built text NOT NULL,
    bound text
);
CREATE TABLE public.sluice_loaded (
    source text NOT NULL,
    slave text NOT NULL,
    update_id bigint NOT NULL,
    chunk integer NOT NULL,
    rows bigint,
    part text
);
CREATE TABLE public.sluice_position (
    source text NOT NULL,
    slave text NOT NULL,
    segment bigint DEFAULT 0 NOT NULL,
    ordinal bigint DEFAULT 0 NOT NULL,
    snapshot text,
    epoch bigint DEFAULT 0 NOT NULL,
    backend_pid integer
)
WITH (fillfactor='10');
COMMENT ON TABLE public.sluice_position IS 'version 1';
CREATE TABLE public.sluice_ranges (
    source text NOT NULL,
    slave text NOT NULL,
    number integer NOT NULL,
    update_id bigint NOT NULL,
    schema text NOT NULL,
    "table" text NOT NULL,
    key_order text NOT NULL,
    reached text[],
    until text[],
    rows bigint DEFAULT 0 NOT NULL,
    ended boolean DEFAULT false NOT NULL,
    seen text DEFAULT ''::text NOT NULL,
    first text[],
    replaces boolean DEFAULT false NOT NULL
);
CREATE TABLE public.sluice_references (
    schema text NOT NULL,
    "table" text NOT NULL,
    name text NOT NULL,
    parent_schema text NOT NULL,
    parent_table text NOT NULL,
    made text NOT NULL
);
CREATE TABLE public.t (
    id integer NOT NULL,
    v text
);
INSERT INTO public.sluice_position VALUES ('flights', 'zurich', 0, 0, NULL, 1796055470721, 8121);
ALTER TABLE ONLY public.sluice_indexes
    ADD CONSTRAINT sluice_indexes_pkey PRIMARY KEY (schema, "table", name);
ALTER TABLE ONLY public.sluice_loaded
    ADD CONSTRAINT sluice_loaded_pkey PRIMARY KEY (source, slave, update_id, chunk);
ALTER TABLE ONLY public.sluice_position
    ADD CONSTRAINT sluice_position_pkey PRIMARY KEY (source, slave);
ALTER TABLE ONLY public.sluice_ranges
    ADD CONSTRAINT sluice_ranges_pkey PRIMARY KEY (source, slave, number);
ALTER TABLE ONLY public.sluice_references
    ADD CONSTRAINT sluice_references_pkey PRIMARY KEY (schema, "table", name);
ALTER TABLE ONLY public.t
    ADD CONSTRAINT t_pkey PRIMARY KEY (id);
