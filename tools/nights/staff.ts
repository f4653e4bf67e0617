import { CLASSES, DATASET, type Organisation, type Person } from './organisation.js';

/** Simulates who joins, leaves and leads in an organisation. */
export class Staff {
  constructor(
    private readonly org: Organisation,
    /** Lets something happen in so many days. 0 is this night. */
    private readonly postpone: (days: number, act: () => void) => void,
  ) {}

  schedule(days: number, act: () => void): void {
    if (days === 0) act();
    else this.postpone(days, act);
  }

  /** Schedules a change of a person, which does not happen if the person has left by then. */
  scheduleFor(person: Person, days: number, act: () => void): void {
    this.schedule(days, () => {
      if (this.isActive(person)) act();
    });
  }

  join(): Person {
    const { org } = this;
    const isPupil = org.isSchool && org.chance.isTrue(0.85);
    const manager = isPupil ? undefined : (org.pickTeam() ?? this.findTop());
    // Some new people have no e-mail address yet, so that their rows fail for some nights.
    const isLate = org.chance.isTrue(0.05);
    const errors = isLate ? [{ field: 'email', code: 'required', message: '' }] : [];
    const person = org.hire({ manager, isPupil, errors });
    if (isLate) this.schedule(org.chance.between(1, 10), () => (person.errors = []));
    return person;
  }

  enrol(days: number): void {
    this.schedule(days, () => {
      const pupil = this.org.hire({ isPupil: true });
      pupil.user = { ...pupil.user, about_me: `Class ${this.org.chance.pick(CLASSES.slice(0, 2))}` };
    });
  }

  joinForSeason(): void {
    const { org } = this;
    this.schedule(org.chance.pick([0, 0, 0, 1, 2]), () => {
      const person = org.hire({ manager: org.pickTeam() });
      this.schedule(org.chance.pick([92, 92, 92, 85, 110]), () => {
        org.note('end of season');
        this.leave(person);
      });
    });
  }

  leave(leaver?: Person): void {
    const { org } = this;
    // Managers leave half as often as other people.
    const person = leaver ?? org.pickPerson((one) => one.reports.size === 0 || org.chance.isTrue(0.5));
    if (!person?.isStored || !this.isActive(person)) return;
    this.remove(person, org.style.blocksLeavers);
    if (org.chance.isTrue(0.05)) this.schedule(org.chance.between(30, 300), () => this.takeBack(person));
  }

  takeLeave(): void {
    const person = this.org.pickPerson();
    if (!person) return;
    this.remove(person, this.org.chance.isTrue(0.7));
    this.schedule(this.org.chance.pick([30, 60, 90, 180, 365]), () => this.takeBack(person));
  }

  /** A person is not in the file for some days by mistake. */
  dropForSomeDays(): void {
    const person = this.org.pickPerson(({ reports }) => reports.size === 0);
    if (!person) return;
    this.remove(person, false);
    this.schedule(this.org.chance.between(1, 5), () => this.takeBack(person));
  }

  transfer(): void {
    const { org } = this;
    const person = org.pickPerson(({ reports, isPupil }) => reports.size === 0 && !isPupil);
    const manager = org.pickTeam();
    if (!person || !manager) return;
    org.setManager(person, manager);
    person.department = manager.department;
    person.site = manager.site;
    org.change(person, { about_me: person.department });
    if (org.chance.isTrue(0.6)) org.change(person, { phone: org.createPhone(person.site) });
  }

  /** A team gets another manager: one of the team, a new person, or a person of another team. */
  replaceLead(lead = this.org.pickLead()): void {
    const { org } = this;
    if (!lead || lead.reports.size === 0) return;
    const source = org.chance.between(1, 10);
    const member = org.chance.pick([...lead.reports]);
    const isTemporary = source > 4 && source < 8 && lead.manager !== undefined;
    const heir = isTemporary
      ? lead.manager
      : source <= 8 || !lead.manager
        ? member
        : org.hire({ manager: lead.manager });
    if (!heir) return;
    if (heir === member) org.setManager(member, lead.manager);
    const team = [...lead.reports];
    for (const person of team) org.setManager(person, heir);
    if (isTemporary) this.schedule(org.chance.between(20, 80), () => this.promote(team, heir));
  }

  splitTeam(): void {
    const lead = this.org.pickLead();
    if (!lead || lead.reports.size < 7) return;
    const team = [...lead.reports].filter(() => this.org.chance.isTrue(0.5));
    this.promote(team, lead);
  }

  mergeTeams(): void {
    const [lead, other] = [this.org.pickLead(), this.org.pickLead()];
    if (!lead || !other || lead.reports.size + other.reports.size > 15) return;
    for (const person of [...lead.reports]) this.org.setManager(person, other);
  }

  /** The people of a department form other teams. */
  mixDepartment(): void {
    const { org } = this;
    const lead = org.pickLead()?.manager;
    const leads = [...(lead?.reports ?? [])].filter(({ reports }) => reports.size > 0);
    if (leads.length < 2) return;
    for (const team of leads)
      for (const person of [...team.reports])
        if (org.chance.isTrue(0.4)) org.setManager(person, org.chance.pick(leads));
  }

  /** One person of a team becomes its manager, if the team still reports to `lead`. */
  private promote(team: readonly Person[], lead: Person): void {
    const present = team.filter((person) => person.manager === lead && this.isActive(person));
    const [heir, ...others] = present;
    if (!heir) return;
    this.org.note('new head after a vacancy or split');
    for (const person of others) this.org.setManager(person, heir);
  }

  private isActive({ isListed, user }: Person): boolean {
    return isListed && user.status === 'Active';
  }

  private findTop(): Person | undefined {
    let top = this.org.pickPerson((one) => !one.isPupil);
    while (top?.manager) top = top.manager;
    return top;
  }

  /** Takes access from a person, by Status or because the file lacks the person from this night. */
  private remove(person: Person, byStatus: boolean): void {
    const { org } = this;
    if (person.reports.size > 0) this.replaceLead(person);
    person.manager?.reports.delete(person);
    org.deactivate(person);
    const emptied = org.style.emptiesLeavers ? { phone: '', mobile: '', about_me: '' } : {};
    if (byStatus) {
      org.change(person, { status: 'Blocked', ...emptied });
      this.schedule(90, () => {
        if (person.user.status === 'Blocked') person.isListed = false;
      });
      return;
    }
    person.isListed = false;
    org.change(person, { status: 'Blocked', managed_by: null, blocked_by: DATASET });
  }

  private takeBack(person: Person): void {
    const { org } = this;
    if (this.isActive(person)) return;
    org.note('return');
    if (!person.isListed) org.file.push(person);
    person.isListed = true;
    org.activate(person);
    org.change(person, { status: 'Active', managed_by: DATASET, blocked_by: null });
    if (person.isPupil) return;
    const manager = person.manager && this.isActive(person.manager) ? person.manager : org.pickTeam();
    org.setManager(person, manager);
    manager?.reports.add(person);
  }
}
